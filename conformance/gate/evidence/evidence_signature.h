// Signatures of evidence files, made and verified by ssh-keygen: an author signs with the SSH key that git
// and its hosts know already, and a file in the format that git calls gpg.ssh.allowedSignersFile lists whose
// signatures count.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace opgate {

/// Where the signature of an evidence file lies: "add.Tensor.toml.sig" beside "add.Tensor.toml".
std::filesystem::path signature_of(const std::filesystem::path& file);

/// What became of the verification of one file.
struct SignatureCheck {
  std::string signer =
      {};  ///< a principal of the list of signers, such as an e-mail address; empty if `problem` is not
  std::string problem = {};  ///< "it is not signed"; empty for a valid signature
};

/// Verifies the signature of `file` by the list `signers`, a file of ALLOWED SIGNERS (see ssh-keygen(1)). The
/// namespace of the signature is "opgate-evidence".
SignatureCheck check_signature(const std::filesystem::path& file, const std::filesystem::path& signers);

/// The lines of a list of signers, without comments; none for an empty path, and for a file that is missing.
std::set<std::string> lines_of_signers(const std::filesystem::path& signers);

/// Signs the files with a private SSH key, or with a public one whose private half an agent has, and replaces
/// older signatures. ssh-keygen asks for a passphrase on the terminal, once. Throws SetupError if a file has
/// no signature afterwards.
void sign(const std::vector<std::filesystem::path>& files, const std::filesystem::path& key);

}  // namespace opgate
