// Another process of the test program itself, for what only two processes can show. Belongs to the
// test's thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace normd {

// Verbs, with the arguments that follow the directory:
//   write FIRST COUNT   puts the binaries and winners; says "ok NUMBER" after each is acknowledged
//   hold MS             holds SQLite's write lock, without the turn; says "holding"
//   lease TTL_MS        takes the lease of key 0, says "taken" or "refused", and waits to be killed
//   open                opens and closes; says "ok" or the error
//   list UID            becomes that user, opens for reading; says how many winners, or the error
//   serve UID           becomes that user, opens for writing; says whether winner 0 is "found",
//                       whether a new one is "kept", and why it is not persistent
class StoreProcess {
 public:
  StoreProcess(const std::string& verb, const std::string& directory,
               const std::vector<std::string>& arguments);
  StoreProcess(const StoreProcess&) = delete;
  ~StoreProcess();  // kills it if it still runs

  std::string line();               // the next line it says, without its end; empty at the end
  std::vector<std::string> rest();  // all lines until it ends
  void kill();                      // with SIGKILL; lines already said can still be read
  int wait();                       // its exit code, or minus the signal

 private:
  pid_t pid_ = -1;
  int output_ = -1;
};

// The main function's part in the child.
int run_store_process(int count, char** arguments);

}  // namespace normd
