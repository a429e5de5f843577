import {
  findReason,
  isKeptUnsigned,
  isSurelyAcceptable,
} from "../oracle/acceptance.ts";
import { showText, type ShownText } from "../oracle/history.ts";
import { expectThat } from "../oracle/violation.ts";
import { formatAnswer, isDecided, type Answer } from "../world/answers.ts";
import {
  agree,
  isWithin,
  nameOfRelease,
  types,
  versions,
  type ReleaseName,
  type SignedText,
} from "../world/documents.ts";
import type { OfferLie } from "../world/registry.ts";
import { attackers, isAhead } from "../world/toy-keys.ts";
import type { World } from "../world/world.ts";

/** Answers to clients of a provider: the index, and the packages by version. */
interface Survey {
  readonly listed: Answer;
  readonly served: ReadonlyMap<string, Answer>;
}

/** Asks the index of a provider, every VERSION.json, and the index again. */
async function surveyReleases(
  world: World,
  index: number,
  type: string,
): Promise<Survey> {
  const served = new Map<string, Answer>();
  await world.askFor(index, "index", { type, version: "" });
  for (const version of versions) {
    const name = { type, version };
    served.set(version, await world.askFor(index, "version", name));
  }
  const listed = await world.askFor(index, "index", { type, version: "" });
  return { listed, served };
}

/** Asks every face for everything of a provider. Throws Violation where they disagree. */
export async function surveyFaces(
  world: World,
  index: number,
  type: string,
): Promise<Survey> {
  // Replicas see what others did once they look again.
  if (world.size > 1) world.outlast();
  // The first survey may change the list, and a command asks for what came out since, so a second one follows.
  const { served } = await surveyReleases(world, index, type);
  for (const version of served.keys())
    await world.askFor(index, "recall", { type, version });
  const survey = await surveyReleases(world, index, type);
  const { listed } = survey;
  for (const [version, answer] of survey.served) {
    if (!isDecided(answer)) continue;
    const name = { type, version };
    const what = nameOfRelease(name);
    const isAsked = world.oracle.isAnswering(type) || world.settings.offline;
    const isServed = answer.kind === "packages";
    if (isAsked && isDecided(listed) && !world.oracle.first.of(name).isLost) {
      const isListed = listedIn(listed).includes(version);
      expectThat(isServed || !isListed, 4, `${what} is listed, and refused`);
      expectThat(isListed || !isServed, 4, `${what} is served, and not listed`);
    }
    // Archives and named versions follow VERSION.json.
    const expectSame = (face: string, expected: Answer, got: Answer) => {
      const said = `${what} ${face} differs from its VERSION.json (${formatAnswer(got)})`;
      expectThat(!isDecided(got) || isSameAnswer(expected, got), 4, said);
    };
    const recalled = await world.askFor(index, "recall", name);
    expectSame("for a command", answer, recalled);
    if (!isServed) continue;
    for (const [platform, sha256] of Object.entries(answer.packages)) {
      const packages = { [platform]: sha256 };
      const archive = await world.askFor(index, "archive", name, platform);
      expectSame(platform, { kind: "packages", packages }, archive);
    }
  }
  return survey;
}

function listedIn(answer: Answer): readonly string[] {
  return answer.kind === "versions" ? answer.versions : [];
}

function isSameAnswer(one: Answer, other: Answer): boolean {
  if (one.kind !== "packages" || other.kind !== "packages")
    return one.kind === other.kind;
  const [mine, theirs] = [one.packages, other.packages];
  return isWithin(mine, [theirs]) && isWithin(theirs, [mine]);
}

/**
 * Heals the registry and the disk, has clients ask for the index twice, a period of
 * freshness apart, and for nothing else. Throws Violation where something that is
 * good is not served then.
 */
export async function recover(world: World): Promise<string> {
  const began = world.clock.now();
  world.lie({ kind: "heal" });
  world.disk.isFull = false;
  for (let period = 0; period < 2; period++) {
    world.outlast();
    for (const type of types)
      for (let at = 0; at < world.size; at++)
        await world.askFor(at, "index", { type, version: "" });
  }
  for (const type of types) await expectGood(world, type, began);
  return "everything good is served";
}

async function expectGood(
  world: World,
  type: string,
  began: Date,
): Promise<void> {
  const listed = await world.askFor(0, "index", { type, version: "" });
  const { served } = await surveyFaces(world, 0, type);
  // A process that was to die dies once, and answers when it runs again.
  if ([listed, ...served.values()].some(({ kind }) => kind === "dead"))
    return expectGood(world, type, began);
  if (world.hasLost(type)) return;
  for (const version of versions) {
    const name = { type, version };
    const good = findGood(world, name, began);
    if (good === undefined) continue;
    const what = `${nameOfRelease(name)} by ${good.signer ?? "no key"}`;
    const isListed = listedIn(listed).includes(version);
    expectThat(isListed, 5, `${what} is good, and is not listed`);
    const answer = served.get(version);
    const isHad = answer !== undefined && isDecided(answer);
    expectThat(isHad, 5, `${what} is good, and cannot be had`);
  }
}

/** Finds the document by which a release is to be served in any case. */
function findGood(
  world: World,
  name: ReleaseName,
  began: Date,
): SignedText | undefined {
  const { oracle, publisher } = world;
  if (oracle.decided.listApproved(name).length > 0) return undefined;
  const current = publisher.findCurrent(name);
  if (current === undefined) return undefined;
  const texts = oracle.shown.of(name).filter(({ isVerified }) => isVerified);
  // A mirror that gets what is dated ahead refuses it then.
  const isGood = (text: ShownText) =>
    isSurelyAcceptable(oracle, text) &&
    oracle.isSurelyGood(text) &&
    !isAhead(text.signed.signedAt, began);
  const first = oracle.first.digestsOf(name);
  if (Object.keys(first).length === 0) {
    if (world.settings.offline) return undefined;
    if (oracle.look(name)?.isVerified !== true) return undefined;
    const own = texts.find(
      ({ signed }) =>
        signed.sha256sums === current.sha256sums &&
        signed.signer === current.signer &&
        signed.signedAt === current.signedAt,
    );
    const isAlone = oracle.shown
      .accepted(name)
      .every(({ digests }) => agree(digests, current.digests));
    return own && isGood(own) && isAlone ? current : undefined;
  }
  const naming = texts.filter(({ signed }) =>
    Object.entries(first).some(
      ([platform, sha256]) => signed.digests[platform] === sha256,
    ),
  );
  const kept = naming.find(
    (text) =>
      text.signed.signer === undefined &&
      isKeptUnsigned(oracle, text.signed) &&
      isGood(text),
  );
  if (kept !== undefined) return kept.signed;
  return naming.every(isGood) ? naming[0]?.signed : undefined;
}

/**
 * Offers for a while what may not be served, has clients ask for everything, and
 * ends the lie. Throws Violation where anything was served otherwise than before.
 */
export async function tempt(
  world: World,
  { process, lie }: { readonly process: number; readonly lie: OfferLie },
): Promise<string> {
  const { registry, oracle } = world;
  const ask = () => surveyReleases(world, process, lie.type);
  registry.withdraw(lie);
  world.outlast();
  await ask();
  const before = await ask();
  world.lie(lie);
  const signed = oracle.look(lie)?.signed;
  if (signed !== undefined && isHarmless(world, lie)) {
    world.outlast();
    const during = await ask();
    const isListed = [before, during].every(
      ({ listed }) => listedIn(listed).length > 0,
    );
    if (isListed && !oracle.hasCrashed) await expectPending(world, lie, signed);
    registry.withdraw(lie);
    world.outlast();
    const after = await ask();
    if (!oracle.hasCrashed) {
      expectUnchanged(before, during, lie, "while it was offered");
      expectUnchanged(before, after, lie, "after it was gone");
    }
  }
  registry.withdraw(lie);
  return "left no trace";
}

/** True for an offer that is refused in any case, and that takes no key back: that would take evidence away. */
function isHarmless({ registry, oracle, disk }: World, lie: OfferLie): boolean {
  const shown = oracle.look(lie);
  if (shown === undefined || lie.keys !== "beside" || disk.isFull) return false;
  if (!registry.answers(lie.type)) return false;
  const { signed, isVerified, takenBack } = shown;
  const text = showText(signed, isVerified);
  return (
    isVerified &&
    takenBack.length === 0 &&
    (!agree(oracle.first.digestsOf(lie), signed.digests) ||
      findReason(oracle, text) === undefined) &&
    !oracle.decided.listApproved(lie).includes(signed.sha256sums)
  );
}

/** People find what was offered and refused among what needs a decision. */
async function expectPending(
  world: World,
  lie: OfferLie,
  signed: SignedText,
): Promise<void> {
  const { settings, oracle } = world;
  const { signer, content } = lie;
  // A look-up that says what is known, with the same keys, ends there.
  const isNewKey =
    attackers.includes(signer ?? "K1") &&
    oracle.shown.accepted(lie).every((text) => text.signer !== signer);
  const isSeen = content === "other" || isNewKey;
  const isUndecided = isSeen && oracle.isOpen({ ...signed, signer });
  if (!isUndecided || settings.offline || world.hasLost(lie.type)) return;
  const pending = await world.listPending(lie);
  const isPending = pending.some((one) => one.sha256sums === signed.sha256sums);
  const said = `${nameOfRelease(lie)} by ${signer} is no candidate`;
  expectThat(isPending, 6, said);
}

function expectUnchanged(
  before: Survey,
  after: Survey,
  lie: OfferLie,
  when: string,
): void {
  for (const [version, answer] of before.served) {
    const now = after.served.get(version);
    if (now === undefined || !isDecided(answer) || !isDecided(now)) continue;
    const name = nameOfRelease({ type: lie.type, version });
    const isKept = answer.kind !== "packages" || isSameAnswer(answer, now);
    const by = `${nameOfRelease(lie)} by ${lie.signer}`;
    expectThat(isKept, 6, `${name} was served otherwise ${when} (${by})`);
  }
}
