// usage: runtime-only PACKAGE.tpn
// Runs a compiled model with one input and one output, both f32, on an image of ones.
#include <tarpon/C/Runtime.h>

#include <stdio.h>
#include <stdlib.h>

static int fail(const char *message) {
  fprintf(stderr, "runtime-only: error: %s\n", message);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return fail("expected PACKAGE.tpn");
  tarpon_model *model;
  tarpon_tensor_info in, out;
  if (tarpon_model_load(argv[1], 0, &model) != TARPON_OK ||
      tarpon_model_input(model, 0, &in) != TARPON_OK ||
      tarpon_model_output(model, 0, &out) != TARPON_OK)
    return fail(tarpon_error_message());
  if (in.dtype != TARPON_F32 || out.dtype != TARPON_F32)
    return fail("expected a model with an f32 input and an f32 output");

  float *image = malloc(in.bytes), *scores = malloc(out.bytes);
  if (!image || !scores)
    return fail("there is not enough memory");
  for (size_t i = 0; i < in.bytes / sizeof(float); ++i)
    image[i] = 1.0f;
  tarpon_input input = {image, in.bytes};
  tarpon_output output = {scores, out.bytes};
  if (tarpon_model_run(model, &input, 1, &output, 1) != TARPON_OK)
    return fail(tarpon_error_message());
  size_t best = 0;
  for (size_t i = 1; i < out.bytes / sizeof(float); ++i)
    if (scores[i] > scores[best])
      best = i;
  printf("class %zu has the highest score, %g\n", best, scores[best]);
  free(image);
  free(scores);
  tarpon_model_free(model);
  return 0;
}
