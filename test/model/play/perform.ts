import { hostname, namespace } from "../../scenes/composed-mirror.ts";
import type { Decision } from "../oracle/decided.ts";
import { expectThat } from "../oracle/violation.ts";
import {
  formatAnswer,
  isDecided,
  type Answer,
  type Ask,
} from "../world/answers.ts";
import {
  isWithin,
  nameOfRelease,
  type ReleaseName,
} from "../world/documents.ts";
import type { CrashPoint } from "../world/records.ts";
import type { Lie, Making, Offer, OfferLie } from "../world/registry.ts";
import { modelTimes, type Settings } from "../world/settings.ts";
import {
  fingerprintOf,
  formatKeyBlock,
  type KeyName,
} from "../world/toy-keys.ts";
import type { World } from "../world/world.ts";
import { recover, surveyFaces, tempt } from "./survey.ts";

interface Burst {
  readonly asks: readonly Ask[];
  readonly pace: number;
  readonly midway: Lie | undefined;
}

/** One of the processes. */
interface At {
  readonly process: number;
}

interface KeyDecision {
  readonly decision: Decision;
  readonly key: KeyName;
  readonly scope: "namespace" | "provider" | "release";
  readonly name: ReleaseName;
}

/** One of several. */
interface Which {
  readonly which: number;
}

interface Pause {
  readonly milliseconds: number;
}

/** What the steps of a sequence do; each says what came of it, or throws Violation. */
const steps = {
  ask: async (world: World, asked: Ask) => formatAnswer(await world.ask(asked)),
  burst: async (world: World, { asks, pace, midway }: Burst) => {
    const answers = await world.burst(asks, pace, midway);
    return answers.map(formatAnswer).join(" | ");
  },
  /** Asks every face for everything of a provider, and compares. */
  survey: async (
    world: World,
    { process, type }: At & Pick<ReleaseName, "type">,
  ) => formatAnswer((await surveyFaces(world, process, type)).listed),
  tempt,
  recover,
  publish: make("publish"),
  recreate: make("recreate"),
  widen: make("widen"),
  "sign-again": make("sign-again"),
  rotate: ({ publisher }: World) => {
    publisher.rotate();
    return `${String(publisher.signer)} signs`;
  },
  retire: ({ publisher }: World) => {
    publisher.retireOldKeys();
    return publisher.keys.join(" ");
  },
  lie: (world: World, { lie }: { readonly lie: Lie }) => world.lie(lie),
  key: decideKey,
  approve,
  withdraw,
  import: importBundle,
  flood,
  pass: ({ clock }: World, { milliseconds }: Pause) => clock.pass(milliseconds),
  /** Sets the wall clock. */
  step: ({ clock, oracle }: World, { milliseconds }: Pause) => {
    clock.step(milliseconds);
    oracle.noteStep(milliseconds);
  },
  restart: (world: World, { process }: At) => world.restart(process),
  crash: (world: World, { process, ...point }: At & CrashPoint) =>
    world.crash(process, point),
  disk: ({ disk }: World, { isFull }: { readonly isFull: boolean }) => {
    disk.isFull = isFull;
  },
  lose: (world: World, { which }: Which) => world.spoil(which, "lose"),
  damage: (world: World, { which }: Which) => world.spoil(which, "damage"),
  configure: (
    world: World,
    { change }: { readonly change: Partial<Settings> },
  ) => world.configure(change),
};

type Steps = typeof steps;

/** One step of a sequence: plain data, so that any step can be left out. */
export type Action = {
  [K in keyof Steps]: { readonly kind: K } & (Steps[K] extends (
    world: World,
    data: infer Data,
  ) => unknown
    ? Data
    : never);
}[keyof Steps];

export async function perform(world: World, action: Action): Promise<string> {
  const step = steps[action.kind] as (
    world: World,
    data: Action,
  ) => Promise<string> | string | undefined;
  return (await step(world, action)) ?? "";
}

function make(kind: Making) {
  return (
    { publisher, now }: World,
    action: ReleaseName & { readonly variant: number },
  ) => {
    const other = `${"0".repeat(64)}  manifest.json\n`;
    publisher.make(kind, action, now, action.variant % 2 === 0 ? "" : other);
    return nameOfRelease(action);
  };
}

/** Candidates that are kept of a release (docs/trust.md, rule 2). */
const mostCandidates = 8;

/** Offers one document after the other of a release, each with a date of its own and for long enough to be seen. */
async function flood(
  world: World,
  {
    lie,
    count,
    process,
  }: At & { readonly lie: OfferLie; readonly count: number },
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
async function run(world: World, ...args: string[]): Promise<Answer> {
  const answer = await world.runTrust(args);
  world.clock.pass(modelTimes.decided);
  return answer;
}

/** Decides on a key, and notes the decision as the command confirmed it. */
async function decideKey(
  world: World,
  { decision, key, scope, name }: KeyDecision,
): Promise<string> {
  const type = scope === "namespace" ? undefined : name.type;
  const version = scope === "release" ? name.version : undefined;
  const provider = [hostname, namespace, ...(type ? [type] : [])].join("/");
  const spec = version ? `${provider}@${version}` : provider;
  const verbs = { approved: "approve", revoked: "revoke", undecided: "forget" };
  const named = ["--key", fingerprintOf(key), "--for", spec];
  const answer = await run(world, verbs[decision], ...named);
  const { decided } = world.oracle;
  if (mayHaveDecided(answer))
    decided.decideKey({ key, type, version }, decision, isDone(answer));
  return formatAnswer(answer);
}

/**
 * Approves one of the candidates of a release with the command that is printed beside
 * it, or without a digest. Throws Violation where it takes anything else.
 */
async function approve(
  world: World,
  action: ReleaseName & Which & { readonly isPrinted: boolean },
): Promise<string> {
  const pending = await world.listPending(action);
  const row = pending[action.which % Math.max(1, pending.length)];
  if (action.isPrinted && row?.command === undefined)
    return "nothing to approve";
  // Word for word, behind `provender trust`.
  const printed = row?.command?.split(" ").slice(2) ?? [];
  const args = action.isPrinted ? printed : ["approve", specOf(action)];
  const answer = await run(world, ...args);
  const only = pending.length === 1 ? pending[0] : undefined;
  const expected = (action.isPrinted ? row : only)?.sha256sums;
  const text = isDone(answer) ? answer.text : "";
  const taken = /SHA256SUMS ([0-9a-f]{64})/.exec(text)?.[1];
  const sha256sums = taken ?? expected;
  const isMeant = expected === undefined || expected === sha256sums;
  expectThat(isMeant, 2, "a command took another content than it was for");
  const isOne = action.isPrinted || pending.length <= 1 || !isDone(answer);
  expectThat(isOne, 2, "a command without a digest took one of several");
  if (sha256sums === undefined) return formatAnswer(answer);
  noteContent(world, action, sha256sums, true, answer);
  if (isDone(answer)) {
    const left = await world.listPending(action);
    const isOpen = left.some((one) => one.sha256sums === sha256sums);
    const said = `${nameOfRelease(action)} still needs a decision`;
    expectThat(!isOpen, 6, said);
    await expectTaken(world, action, sha256sums);
  }
  return `${formatAnswer(answer)} ${sha256sums.slice(0, 6)}`;
}

/** Undoes an approval that may have been made. */
async function withdraw(
  world: World,
  action: ReleaseName & Which,
): Promise<string> {
  const approved = world.oracle.decided.listApproved(action);
  const sha256sums = approved[action.which % Math.max(1, approved.length)];
  if (sha256sums === undefined) return "nothing to withdraw";
  const answer = await run(world, "forget", specOf(action), sha256sums);
  noteContent(world, action, sha256sums, false, answer);
  return formatAnswer(answer);
}

function noteContent(
  { oracle }: World,
  name: ReleaseName,
  sha256sums: string,
  isApproved: boolean,
  answer: Answer,
): void {
  const { decided } = oracle;
  if (mayHaveDecided(answer))
    decided.decideContent(name, sha256sums, isApproved, isDone(answer));
}

function isDone(answer: Answer) {
  return answer.kind === "done";
}

/** True also for a command that ended without saying whether it decided: it died, or could not write its line in the audit log. */
function mayHaveDecided(answer: Answer): boolean {
  return isDone(answer) || !isDecided(answer);
}

/** Throws Violation where an approved content that the registry offers is not served. */
async function expectTaken(
  world: World,
  name: ReleaseName,
  sha256sums: string,
): Promise<void> {
  const { oracle, settings, disk } = world;
  const shown = oracle.look(name);
  const isTaken =
    shown?.isVerified === true &&
    shown.signed.sha256sums === sha256sums &&
    !settings.offline &&
    oracle.isOpen(shown.signed);
  if (!isTaken || disk.isFull || world.hasLost(name.type)) return;
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

/** Imports a bundle of the publisher's releases, with lies in the place of some, and sees that what it took is served where no origin is asked. */
async function importBundle(
  world: World,
  {
    names,
    lies,
    process,
  }: At & {
    readonly names: readonly ReleaseName[];
    readonly lies: readonly OfferLie[];
  },
): Promise<string> {
  const { oracle, settings, publisher, registry, now } = world;
  const own = publisher.keys.map((key) => formatKeyBlock(key));
  const carried = new Map<string, Offer>();
  for (const name of names) {
    const signed = publisher.findCurrent(name);
    if (signed) carried.set(nameOfRelease(name), { signed, blocks: own });
  }
  for (const lie of lies) {
    const signed = registry.forge(lie, now);
    const blocks = signed.signer ? [formatKeyBlock(signed.signer)] : [];
    carried.set(nameOfRelease(lie), { signed, blocks });
  }
  const offers = [...carried.values()];
  oracle.noteBundle(offers);
  const { taken, answer } = await world.importOffers(process, offers);
  if (answer.kind === "dead") oracle.hasCrashed = true;
  const imported = offers
    .map(({ signed }) => signed)
    .filter(({ version }) => taken.includes(version));
  for (const { type } of imported) oracle.contacts.settle(type);
  if (settings.offline && isDecided(answer))
    for (const name of imported) {
      const served = await world.askFor(process, "version", name);
      const what = `${nameOfRelease(name)} was imported and is refused`;
      const isServed = served.kind === "packages";
      expectThat(isServed || !isDecided(served), 5, what);
    }
  return `${formatAnswer(answer)} (${taken.join(" ")})`;
}
