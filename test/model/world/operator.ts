import { parseHostname } from "../../../src/address/hostname.ts";
import { formatApproval } from "../../../src/errors/index.ts";
import type { KeyState } from "../oracle/decided.ts";
import type { ReleaseName } from "./documents.ts";
import type { PendingRow, Ran } from "./rim.ts";
import { hostname, modelTimes, namespace } from "./settings.ts";
import { fingerprintOf, type KeyName } from "./toy-keys.ts";
import type { World } from "./world.ts";

/** Runs a `trust` command, and waits until it works beside running processes. */
async function run({ rim }: World, ...args: string[]): Promise<Ran> {
  const ran = await rim.runTrust(args);
  rim.machine.clock.pass(modelTimes.decided);
  return ran;
}

/** Lists what `trust list` says of a release that needs a decision. */
export function listPendingOf(
  { rim }: World,
  name: ReleaseName,
): Promise<readonly PendingRow[]> {
  return rim.listPending(name);
}

/** Runs the command that is printed beside a candidate, word for word. */
export function runPrinted(world: World, command: string): Promise<Ran> {
  return run(world, ...wordsOf(command));
}

/** Approves without a digest. */
export function approveOnly(world: World, name: ReleaseName): Promise<Ran> {
  return run(world, "approve", specOf(name));
}

export function forgetContentOf(
  world: World,
  { type, version }: ReleaseName,
  sha256sums: string,
): Promise<Ran> {
  const provider = { hostname: parseHostname(hostname), namespace, type };
  const command = formatApproval({ provider, version }, sha256sums);
  return run(world, ...wordsOf(command).with(0, "forget"));
}

export function decideOnKey(
  world: World,
  key: KeyName,
  scope: string,
  decision: KeyState,
): Promise<Ran> {
  const verbs = { approved: "approve", revoked: "revoke", undecided: "forget" };
  const verb = verbs[decision];
  return run(world, verb, "--key", fingerprintOf(key), "--for", scope);
}

function specOf({ type, version }: ReleaseName): string {
  return `${hostname}/${namespace}/${type}@${version}`;
}

/** Splits `provender trust …` into the arguments of `trust`. */
function wordsOf(command: string): string[] {
  return command.split(" ").slice(2);
}
