//===- SignCommand.cpp - graph-opt sign -------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandSet.h"
#include "Messages.h"

#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Signature.h"

#include "llvm/Support/raw_ostream.h"

namespace tarpon {

using namespace runtime;

namespace {

struct SignArguments {
  std::string package, key, newKey;
};

} // namespace

static int makeKey(const std::string &key) {
  if (Status status = createKeyPair(key); !status)
    return fail(status.message());
  llvm::outs() << "wrote " << key << ", which is secret, and " << key
               << ".pub\n";
  return kSuccess;
}

static int runSign(const SignArguments &arguments) {
  if (arguments.package.empty() != arguments.key.empty() ||
      arguments.package.empty() == arguments.newKey.empty())
    return failUsage("sign needs a package and --key, or --new-key alone");
  if (!arguments.newKey.empty())
    return makeKey(arguments.newKey);
  if (Result<Package> package = readPackage(arguments.package); !package)
    return fail(package.message());
  if (Status status = signFile(arguments.package, arguments.key); !status)
    return fail(status.message());
  llvm::outs() << "wrote " << getSignaturePath(arguments.package) << "\n";
  return kSuccess;
}

void addSign(CommandSet &commands) {
  auto [sub, sign] = commands.add(
      "sign", "Sign a package, or make a key to sign with",
      "graph-opt sign resnet50.tpn --key ~/.minisign/minisign.key", runSign);
  sub->add_option("PACKAGE", sign.package, "The package (.tpn)")->type_name("");
  sub->add_option("--key", sign.key,
                  "The secret key, of minisign or of --new-key, without a "
                  "password")
      ->type_name("KEY");
  sub->add_option("--new-key", sign.newKey,
                  "Write a new secret key here, and its public half beside it")
      ->type_name("KEY");
}

} // namespace tarpon
