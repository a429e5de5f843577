import { Violation } from "../oracle/violation.ts";
import type { Action } from "../world/actions.ts";
import { formatAnswer } from "../world/answers.ts";
import type { ReleaseName } from "../world/documents.ts";
import type { Ran } from "../world/memory-rim.ts";
import { nameOfRelease } from "../world/publisher.ts";
import { hostname, modelTimes, namespace } from "../world/settings.ts";
import { fingerprintOf } from "../world/toy-keys.ts";
import { showOffer } from "../oracle/snapshot.ts";
import { isDecided } from "./survey.ts";
import type { World } from "../world/world.ts";

const specOf = ({ type, version }: ReleaseName) =>
  `${hostname}/${namespace}/${type}@${version}`;

/** Runs a `trust` command, and waits until it works beside running processes. */
async function run({ rim }: World, ...args: string[]): Promise<Ran> {
  const ran = await rim.runTrust(args);
  rim.machine.clock.pass(modelTimes.decided);
  return ran;
}

/** Decides on a key, and notes the decision as the command confirmed it. */
export async function decideKey(
  world: World,
  { decision, key, scope, name }: Action & { readonly kind: "key" },
): Promise<string> {
  const type = scope === "namespace" ? undefined : name.type;
  const version = scope === "release" ? name.version : undefined;
  const provider = [hostname, namespace, ...(type ? [type] : [])].join("/");
  const spec = version ? `${provider}@${version}` : provider;
  const verbs = { approved: "approve", revoked: "revoke", undecided: "forget" };
  const named = ["--key", fingerprintOf(key), "--for", spec];
  const { answer } = await run(world, verbs[decision], ...named);
  const isCertain = answer.kind === "done";
  const { decided } = world.oracle;
  if (isCertain || isOpen({ answer, stdout: "" }))
    decided.decideKey(key, { type, version }, decision, isCertain);
  return formatAnswer(answer);
}

/**
 * Approves one of the candidates of a release with the command that is printed beside
 * it, or without a digest. Throws Violation where it takes anything else.
 */
export async function approve(
  world: World,
  action: Action & { readonly kind: "approve" },
): Promise<string> {
  const pending = await world.rim.listPending(action);
  const row = pending[action.which % Math.max(1, pending.length)];
  if (action.isPrinted && row?.command === undefined)
    return "nothing to approve";
  // Word for word, behind `provender trust`.
  const printed = row?.command?.split(" ").slice(2) ?? [];
  const args = action.isPrinted ? printed : ["approve", specOf(action)];
  const ran = await run(world, ...args);
  const only = pending.length === 1 ? pending[0] : undefined;
  const expected = (action.isPrinted ? row : only)?.sha256sums;
  const taken = /SHA256SUMS ([0-9a-f]{64})/.exec(ran.stdout)?.[1];
  if (taken !== undefined && expected !== undefined && taken !== expected)
    throw new Violation(2, "a command took another content than it was for");
  if (!action.isPrinted && pending.length > 1 && ran.answer.kind === "done")
    throw new Violation(2, "a command without a digest took one of several");
  const sha256sums = taken ?? expected;
  if (sha256sums === undefined) return formatAnswer(ran.answer);
  note(world, action, sha256sums, true, ran);
  if (ran.answer.kind === "done") {
    const left = await world.rim.listPending(action);
    if (left.some((one) => one.sha256sums === sha256sums))
      throw new Violation(6, `${nameOfRelease(action)} still needs a decision`);
    await expectTaken(world, action, sha256sums);
  }
  return `${formatAnswer(ran.answer)} ${sha256sums.slice(0, 6)}`;
}

/** Undoes an approval that may have been made. */
export async function withdraw(
  world: World,
  action: Action & { readonly kind: "withdraw" },
): Promise<string> {
  const approved = world.oracle.decided.listApproved(action);
  const sha256sums = approved[action.which % Math.max(1, approved.length)];
  if (sha256sums === undefined) return "nothing to withdraw";
  const ran = await run(world, "forget", specOf(action), sha256sums);
  note(world, action, sha256sums, false, ran);
  return formatAnswer(ran.answer);
}

function note(
  { oracle }: World,
  name: ReleaseName,
  sha256sums: string,
  isApproved: boolean,
  ran: Ran,
): void {
  const isCertain = ran.answer.kind === "done";
  if (isCertain || isOpen(ran))
    oracle.decided.decideContent(name, sha256sums, isApproved, isCertain);
}

/** True for a command that ended without saying whether it decided: it died, or could not write its line in the audit log. */
function isOpen({ answer }: Ran): boolean {
  return answer.kind === "dead" || answer.kind === "failed";
}

/** Throws Violation where an approved content that the registry offers is not served. */
async function expectTaken(
  world: World,
  name: ReleaseName,
  sha256sums: string,
): Promise<void> {
  const { oracle, settings, registry, rim, machine } = world;
  const offer = registry.findOffer(name);
  const shown = offer && showOffer(offer, settings, machine.clock.now());
  const { signer } = shown?.signed ?? {};
  const isTaken =
    shown?.isVerified === true &&
    shown.signed.sha256sums === sha256sums &&
    !settings.offline &&
    settings.pins === undefined &&
    settings.newKeys !== "refuse" &&
    !(signer && oracle.decided.isPossible("revoked", signer, name));
  if (!isTaken || rim.disk.isFull || world.hasLost(name.type)) return;
  world.outlast();
  if (!oracle.isAnswering(name.type)) return;
  const answer = await world.askFor(0, "version", name);
  if (!isDecided(answer)) return;
  const { digests } = shown.signed;
  const isSame =
    answer.kind === "packages" &&
    answer.packages
      .entries()
      .every(([platform, sha256]) => digests[platform] === sha256);
  if (!isSame)
    throw new Violation(
      5,
      `${nameOfRelease(name)} is approved, and not served`,
    );
}
