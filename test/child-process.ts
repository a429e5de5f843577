import { existsSync } from "node:fs";

const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find(existsSync);

if (setpriv === undefined && process.platform === "linux")
  console.error("Processes of tests may outlive them: install util-linux.");

/**
 * A command for `spawn` whose process ends with the one that starts it, also when
 * that is ended hard: the kernel sees to it (prctl, PR_SET_PDEATHSIG). It keeps its
 * number. Elsewhere than on Linux it is the command as it is.
 */
export function endingWithTests(
  command: string,
  args: readonly string[],
  signal: "KILL" | "TERM" = "KILL",
): readonly [string, readonly string[]] {
  return setpriv === undefined
    ? [command, args]
    : [setpriv, ["--pdeathsig", signal, "--", command, ...args]];
}
