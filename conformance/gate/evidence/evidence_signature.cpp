#include "gate/evidence/evidence_signature.h"

#include <fmt/format.h>

#include <fstream>

#include "base/errors.h"
#include "process/run_program.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

constexpr auto kKeygen = "ssh-keygen";
// The namespace keeps a signature of another kind of file, such as a commit, from counting.
constexpr auto kNamespace = "opgate-evidence";
constexpr auto kNotHere = "it cannot be verified, because there is no ssh-keygen here: install OpenSSH";

}  // namespace

fs::path signature_of(const fs::path& file) { return file.string() + ".sig"; }

SignatureCheck check_signature(const fs::path& file, const fs::path& signers) {
  const fs::path signature = signature_of(file);
  if (!fs::exists(signature)) return {.problem = "it is not signed"};
  if (!fs::exists(signers))
    return {.problem = fmt::format("its signers are not known: there is no {}", signers.string())};
  const auto found =
      end_of({{kKeygen, "-Y", "find-principals", "-f", signers.string(), "-s", signature.string()}}, file);
  if (!found) return {.problem = kNotHere};
  // One line for each principal that the key belongs to; any of them will do.
  const std::string signer = found->printed.substr(0, found->printed.find('\n'));
  if (!has_succeeded(found->status) || signer.empty())
    return {.problem = fmt::format("its signature is by none of the signers in {}", signers.string())};
  const auto verified = end_of({{kKeygen, "-Y", "verify", "-f", signers.string(), "-I", signer, "-n",
                                 kNamespace, "-s", signature.string()}},
                               file);
  if (!verified || !has_succeeded(verified->status))
    return {.problem =
                fmt::format("it has changed since {} signed it, or the key was not valid then", signer)};
  return {.signer = signer};
}

std::set<std::string> lines_of_signers(const fs::path& signers) {
  std::set<std::string> lines;
  std::ifstream file(signers);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.front() != '#') lines.insert(line);
  }
  return lines;
}

void sign(const std::vector<fs::path>& files, const fs::path& key) {
  Command command{{kKeygen, "-q", "-Y", "sign", "-f", key.string(), "-n", kNamespace}};
  for (const fs::path& file : files) {
    fs::remove(signature_of(file));  // otherwise ssh-keygen asks whether to replace it
    command.words.push_back(file.string());
  }
  const int status = run_here(command);
  for (const fs::path& file : files) {
    if (fs::exists(signature_of(file))) continue;
    throw setup_error(
        "{} is not signed, because `{} -Y sign` ended with {}; --sign takes a private SSH key, or a "
        "public one whose private half ssh-agent has",
        file.string(), kKeygen, ending(status));
  }
}

}  // namespace opgate
