import { parseHostname } from "../../../src/address/hostname.ts";
import {
  approveContent,
  revokeContent,
} from "../../../src/commands/trust/contents.ts";
import type { TrustParts } from "../../../src/commands/trust/decision.ts";
import { decideKey } from "../../../src/commands/trust/keys.ts";
import { resetTrust } from "../../../src/commands/trust/reset.ts";
import { formatApproval } from "../../../src/errors/index.ts";
import {
  readPending,
  type PendingDecision,
} from "../../../src/mirror/trust/pending-decisions.ts";
import { readFailure, readUnforeseen, type Answer } from "./answers.ts";
import { composeTrust } from "./compose.ts";
import type { ReleaseName } from "./documents.ts";
import { Life } from "./life.ts";
import { hostname, namespace, rulesOf } from "./settings.ts";
import { fingerprintOf, type KeyName } from "./toy-keys.ts";
import { settle, type World } from "./world.ts";

/** What a `trust` command came to. */
export interface Ran {
  readonly answer: Answer;
  readonly stdout: string;
}

/** Runs a `trust` command in a process of its own, which may die at a write. */
async function run(
  world: World,
  command: (parts: TrustParts) => Promise<unknown>,
): Promise<Ran> {
  const life = new Life();
  life.crashAt(world.takeCommandCrash());
  const printed: string[] = [];
  const { records, trust, notebook } = composeTrust(world.machine, life);
  const parts: TrustParts = {
    ...{ records, trust, audit: notebook.audit, alarms: notebook.alarms },
    rules: rulesOf(world.settings),
    hosts: { configured: new Set([hostname]), allowsOthers: false },
    operator: { by: "operator", why: undefined },
    now: () => new Date(world.now),
    stdout: (text) => printed.push(text),
    stderr: () => undefined,
  };
  const done = command(parts).then((): Answer => ({ kind: "done" }));
  const dead = life.died.then((): Answer => ({ kind: "dead" }));
  const first = Promise.race([done.catch(readFailure), dead]);
  const answer = await settle(first.catch(readUnforeseen));
  // A decision works beside a running daemon within a second.
  world.machine.clock.pass(1_000);
  return { answer, stdout: printed.join("") };
}

/** Lists what `trust list` says of a release that needs a decision. */
export async function listPendingOf(
  world: World,
  { type, version }: ReleaseName,
): Promise<readonly PendingDecision[]> {
  const { trust } = composeTrust(world.machine, new Life());
  const provider = { hostname: parseHostname(hostname), namespace, type };
  const rules = rulesOf(world.settings);
  const listed = readPending(trust, provider, rules).catch((error: unknown) => {
    readFailure(error);
    return [];
  });
  const pending = await settle(listed.catch(readUnforeseen));
  return pending.filter((one) => one.version === version);
}

/** Runs the command that is printed beside a candidate, word for word. */
export function runPrinted(world: World, command: string): Promise<Ran> {
  const [, , , spec = "", , prefix] = command.split(" ");
  return run(world, (parts) => approveContent(parts, spec, prefix));
}

/** Approves without a digest. */
export function approveOnly(world: World, name: ReleaseName): Promise<Ran> {
  return run(world, (parts) => approveContent(parts, specOf(name), undefined));
}

export function revokeContentOf(
  world: World,
  name: ReleaseName,
  sha256sums: string,
): Promise<Ran> {
  const { type, version } = name;
  const provider = { hostname: parseHostname(hostname), namespace, type };
  const command = formatApproval({ provider, version }, sha256sums);
  const [, , , spec = "", , prefix] = command.split(" ");
  return run(world, (parts) => revokeContent(parts, spec, prefix));
}

export function decideOnKey(
  world: World,
  key: KeyName,
  scope: string,
  decision: "approved" | "revoked",
): Promise<Ran> {
  const fingerprint = fingerprintOf(key);
  return run(world, (parts) => decideKey(parts, scope, fingerprint, decision));
}

export function resetProvider(world: World, type: string): Promise<Ran> {
  const spec = `${hostname}/${namespace}/${type}`;
  return run(world, (parts) => resetTrust(parts, spec));
}

function specOf({ type, version }: ReleaseName): string {
  return `${hostname}/${namespace}/${type}@${version}`;
}
