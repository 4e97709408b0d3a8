// usage: compile-and-run MODEL.onnx PACKAGE.tpn
// Compiles a model with one input, keeps the package, and runs it on an image
// of ones.
#include <tarpon/Tarpon.h>

#include <algorithm>
#include <cstdio>

static int fail(const std::string &message) {
  std::fprintf(stderr, "compile-and-run: error: %s\n", message.c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return fail("expected MODEL.onnx PACKAGE.tpn");
  auto model = tarpon::Model::compile(argv[1], {.layout = "nhwc"});
  if (!model)
    return fail(model.message());
  if (auto saved = model->save(argv[2]); !saved)
    return fail(saved.message());
  auto session = tarpon::Session::create(std::move(*model));
  if (!session)
    return fail(session.message());

  std::vector<float> image(session->inputs()[0].bytes / sizeof(float), 1.0f);
  std::vector<float> scores(session->outputs()[0].bytes / sizeof(float));
  auto ran = session->run({std::as_bytes(std::span(image))},
                          {std::as_writable_bytes(std::span(scores))});
  if (!ran)
    return fail(ran.message());
  auto best = std::max_element(scores.begin(), scores.end());
  std::printf("class %td has the highest score, %g\n", best - scores.begin(),
              *best);
}
