import { showOffer } from "../oracle/contacts.ts";
import { expectThat } from "../oracle/violation.ts";
import type { Action } from "../world/actions.ts";
import { formatAnswer } from "../world/answers.ts";
import {
  isWithin,
  nameOfRelease,
  type ReleaseName,
} from "../world/documents.ts";
import { type Offer, validBlock } from "../world/registry.ts";
import { hostname, modelTimes, namespace } from "../world/settings.ts";
import { fingerprintOf } from "../world/toy-keys.ts";
import type { Ran, World } from "../world/world.ts";
import { isDecided, recover, surveyFaces, tempt } from "./survey.ts";

/** Carries out one step, and says what came of it. Throws Violation. */
export async function perform(world: World, action: Action): Promise<string> {
  const { publisher, machine } = world;
  switch (action.kind) {
    case "ask":
      return formatAnswer(await world.ask(action.process, action));
    case "burst":
      return (await world.burst(action)).map(formatAnswer).join(" | ");
    case "survey":
      return formatAnswer(
        (await surveyFaces(world, action.process, action.type)).listed,
      );
    case "tempt":
      await tempt(world, action.process, action.lie);
      return "left no trace";
    case "recover":
      await recover(world, 0);
      return "everything good is served";
    case "publish":
    case "recreate":
    case "widen":
    case "sign-again": {
      const other = `${"0".repeat(64)}  manifest.json\n`;
      const extra = action.variant % 2 === 0 ? "" : other;
      publisher.make(action.kind, action, world.now, extra);
      return nameOfRelease(action);
    }
    case "rotate":
      publisher.rotate(publisher.signer === "K2" ? "K1" : "K2");
      return `${String(publisher.signer)} signs`;
    case "retire":
      publisher.retireOldKeys();
      return publisher.keys.join(" ");
    case "offer":
    case "replay":
    case "keys":
    case "hide":
    case "fail":
    case "down":
    case "heal":
      world.lie(action);
      return "";
    case "key":
      return decideKey(world, action);
    case "approve":
      return approve(world, action);
    case "withdraw":
      return withdraw(world, action);
    case "import":
      return importBundleOf(world, action);
    case "flood":
      return flood(world, action);
    case "pass":
      machine.clock.pass(action.milliseconds);
      return "";
    case "step":
      machine.clock.step(action.milliseconds);
      world.oracle.noteStep(action.milliseconds);
      return "";
    case "restart":
      world.restart(action.process);
      return "";
    case "crash":
      world.crash(action.process, action);
      return "";
    case "disk":
      machine.disk.isFull = action.isFull;
      return "";
    case "lose":
    case "damage":
      return world.spoil(action.which, action.kind);
    case "configure":
      world.configure(action.change);
      return "";
  }
}

/** Candidates that are kept of a release (docs/trust.md, rule 2). */
const mostCandidates = 8;

/** Offers one document after the other, each with a date of its own. */
async function flood(
  world: World,
  { lie, count, process }: Action & { readonly kind: "flood" },
): Promise<string> {
  for (let variant = 0; variant < count; variant++) {
    world.lie({ ...lie, variant, dated: "now" });
    world.outlast();
    await world.askFor(process, "version", lie);
  }
  world.registry.withdraw(lie);
  const pending = await world.listPending(lie);
  const said = `${pending.length} candidates of one release`;
  expectThat(pending.length <= mostCandidates, 6, said);
  return `${count} offers`;
}

const specOf = ({ type, version }: ReleaseName) =>
  `${hostname}/${namespace}/${type}@${version}`;

/** Runs a `trust` command, and waits until it works beside running processes. */
async function run(world: World, ...args: string[]): Promise<Ran> {
  const ran = await world.runTrust(args);
  world.machine.clock.pass(modelTimes.decided);
  return ran;
}

/** Decides on a key, and notes the decision as the command confirmed it. */
async function decideKey(
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
async function approve(
  world: World,
  action: Action & { readonly kind: "approve" },
): Promise<string> {
  const pending = await world.listPending(action);
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
  const sha256sums = taken ?? expected;
  const isMeant = expected === undefined || expected === sha256sums;
  expectThat(isMeant, 2, "a command took another content than it was for");
  const isOne =
    action.isPrinted || pending.length <= 1 || ran.answer.kind !== "done";
  expectThat(isOne, 2, "a command without a digest took one of several");
  if (sha256sums === undefined) return formatAnswer(ran.answer);
  note(world, action, sha256sums, true, ran);
  if (ran.answer.kind === "done") {
    const left = await world.listPending(action);
    const isOpen = left.some((one) => one.sha256sums === sha256sums);
    const said = `${nameOfRelease(action)} still needs a decision`;
    expectThat(!isOpen, 6, said);
    await expectTaken(world, action, sha256sums);
  }
  return `${formatAnswer(ran.answer)} ${sha256sums.slice(0, 6)}`;
}

/** Undoes an approval that may have been made. */
async function withdraw(
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
  const { oracle, settings, registry, machine } = world;
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
  if (!isTaken || machine.disk.isFull || world.hasLost(name.type)) return;
  world.outlast();
  if (!oracle.isAnswering(name.type)) return;
  const answer = await world.askFor(0, "version", name);
  if (!isDecided(answer)) return;
  const { digests } = shown.signed;
  const isSame =
    answer.kind === "packages" && isWithin(answer.packages, [digests]);
  const said = `${nameOfRelease(name)} is approved, and not served`;
  expectThat(isSame, 5, said);
}

/** Imports a bundle, and sees that what it took is served where no origin is asked. */
async function importBundleOf(
  world: World,
  action: Action & { readonly kind: "import" },
): Promise<string> {
  const offers = makeOffers(world, action);
  const { oracle, settings } = world;
  oracle.noteBundle(offers);
  const { process } = action;
  const { taken, answer } = await world.importOffers(process, offers);
  if (answer.kind === "dead") oracle.hasCrashed = true;
  const names = offers
    .map(({ signed }) => signed)
    .filter(({ version }) => taken.includes(version));
  for (const { type } of names) oracle.contacts.settle(type);
  if (settings.offline && isDecided(answer))
    for (const name of names) {
      const served = await world.askFor(process, "version", name);
      const what = `${nameOfRelease(name)} was imported and is refused`;
      const isServed = served.kind === "packages";
      expectThat(isServed || !isDecided(served), 5, what);
    }
  return `${formatAnswer(answer)} (${taken.join(" ")})`;
}

/** One offer for each release: a lie goes before what the publisher made. */
function makeOffers(
  { registry, publisher, now }: World,
  { names, lies }: Action & { readonly kind: "import" },
): readonly Offer[] {
  const own = publisher.keys.map(validBlock);
  const offers = new Map<string, Offer>();
  for (const name of names) {
    const signed = publisher.findCurrent(name);
    if (signed !== undefined)
      offers.set(nameOfRelease(name), { signed, blocks: own });
  }
  for (const lie of lies) {
    const signed = registry.forge(lie, now);
    const blocks =
      signed.signer === undefined ? [] : [validBlock(signed.signer)];
    offers.set(nameOfRelease(lie), { signed, blocks });
  }
  return [...offers.values()];
}
