import {
  findReason,
  isKeptUnsigned,
  isSurelyAcceptable,
} from "../oracle/acceptance.ts";
import { showOffer } from "../oracle/contacts.ts";
import type { ShownText } from "../oracle/history.ts";
import { Violation } from "../oracle/violation.ts";
import type { OfferLie } from "../world/actions.ts";
import { formatAnswer, type Answer } from "../world/answers.ts";
import {
  nameOfRelease,
  types,
  versions,
  type ReleaseName,
  type SignedText,
} from "../world/documents.ts";
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
  for (const version of versions)
    served.set(
      version,
      await world.askFor(index, "version", { type, version }),
    );
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
  for (const [version, answer] of survey.served) {
    const isAsked = world.oracle.isAnswering(type) || world.settings.offline;
    if (isAsked && !world.oracle.first.isLost({ type, version }))
      expectListed(type, version, survey.listed, answer);
    await expectSameFaces(world, index, { type, version }, answer);
  }
  return survey;
}

function expectListed(
  type: string,
  version: string,
  listed: Answer,
  answer: Answer,
): void {
  if (!isDecided(listed) || !isDecided(answer)) return;
  const isListed =
    listed.kind === "versions" && listed.versions.includes(version);
  const isServed = answer.kind === "packages";
  const name = nameOfRelease({ type, version });
  if (isListed && !isServed)
    throw new Violation(4, `${name} is listed, and refused`);
  if (isServed && !isListed)
    throw new Violation(4, `${name} is served, and not listed`);
}

/** Archives and named versions follow VERSION.json. */
async function expectSameFaces(
  world: World,
  index: number,
  name: { readonly type: string; readonly version: string },
  document: Answer,
): Promise<void> {
  if (!isDecided(document)) return;
  const recalled = await world.askFor(index, "recall", name);
  expectSame(`${nameOfRelease(name)} for a command`, document, recalled);
  if (document.kind !== "packages") return;
  for (const [platform, sha256] of document.packages) {
    const archive = await world.askFor(index, "archive", name, platform);
    const packages = new Map([[platform, sha256]]);
    const said = { kind: "packages", packages } as const;
    expectSame(`${nameOfRelease(name)} ${platform}`, said, archive);
  }
}

function expectSame(what: string, expected: Answer, got: Answer): void {
  if (!isDecided(got)) return;
  if (!isSameAnswer(expected, got))
    throw new Violation(
      4,
      `${what} differs from its VERSION.json (${formatAnswer(got)})`,
    );
}

function isSameAnswer(one: Answer, other: Answer): boolean {
  if (one.kind !== "packages" || other.kind !== "packages")
    return one.kind === other.kind;
  return (
    one.packages.size === other.packages.size &&
    one.packages
      .entries()
      .every(([platform, sha256]) => other.packages.get(platform) === sha256)
  );
}

/** False where an origin, a record or the disk failed, or the process died. */
export function isDecided({ kind }: Answer): boolean {
  return kind !== "failed" && kind !== "dead";
}

/**
 * Heals the registry and the disk, has clients ask for the index twice, a period of
 * freshness apart, and for nothing else. Throws Violation where something that is
 * good is not served then.
 */
export async function recover(world: World, index: number): Promise<void> {
  const { registry } = world;
  const began = world.machine.clock.now();
  registry.heal();
  world.machine.disk.isFull = false;
  for (let period = 0; period < 2; period++) {
    world.outlast();
    for (const type of types)
      for (let at = 0; at < world.size; at++)
        await world.askFor(at, "index", { type, version: "" });
  }
  for (const type of types) await expectGood(world, index, type, began);
}

async function expectGood(
  world: World,
  index: number,
  type: string,
  began: Date,
): Promise<void> {
  const listed = await world.askFor(index, "index", { type, version: "" });
  const { served } = await surveyFaces(world, index, type);
  // A process that was to die dies once, and answers when it runs again.
  if ([listed, ...served.values()].some(({ kind }) => kind === "dead"))
    return expectGood(world, index, type, began);
  if (world.hasLost(type)) return;
  for (const version of versions) {
    const name = { type, version };
    const good = findGood(world, name, began);
    if (good === undefined) continue;
    const what = `${nameOfRelease(name)} by ${good.signer ?? "no key"}`;
    if (listed.kind !== "versions" || !listed.versions.includes(version))
      throw new Violation(5, `${what} is good, and is not listed`);
    const answer = served.get(version);
    if (answer === undefined || !isDecided(answer))
      throw new Violation(5, `${what} is good, and cannot be had`);
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
  const first = oracle.first.list(name);
  if (first.length === 0 && world.settings.offline) return undefined;
  if (first.length === 0) {
    const offer = world.registry.findOffer(name);
    const isOffered =
      offer &&
      showOffer(offer, world.settings, world.machine.clock.now()).isVerified;
    if (!isOffered) return undefined;
    const own = texts.find(({ signed }) => isSameText(signed, current));
    const rivals = texts.filter(
      ({ wasAcceptable, signed }) => wasAcceptable && !agree(signed, current),
    );
    return own && isGood(own) && rivals.length === 0 ? current : undefined;
  }
  const naming = texts.filter(({ signed }) =>
    first.some(([platform, sha256]) => signed.digests[platform] === sha256),
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

function agree(one: SignedText, other: SignedText): boolean {
  return Object.entries(one.digests).every(
    ([platform, sha256]) => (other.digests[platform] ?? sha256) === sha256,
  );
}

function isSameText(one: SignedText, other: SignedText): boolean {
  return (
    one.sha256sums === other.sha256sums &&
    one.signer === other.signer &&
    one.signedAt === other.signedAt
  );
}

/**
 * Offers for a while what may not be served, has clients ask for everything, and
 * ends the lie. Throws Violation where anything was served otherwise than before.
 */
export async function tempt(
  world: World,
  index: number,
  lie: OfferLie,
): Promise<void> {
  const { registry, oracle } = world;
  const { type } = lie;
  registry.withdraw(lie);
  world.outlast();
  await surveyReleases(world, index, type);
  const before = await surveyReleases(world, index, type);
  world.lie(lie);
  const sha256sums = registry.findOffer(lie)?.signed.sha256sums ?? "";
  if (isHarmless(world, lie)) {
    world.outlast();
    const during = await surveyReleases(world, index, type);
    if (lists(before) && lists(during) && !oracle.hasCrashed)
      await expectPending(world, lie, sha256sums);
    registry.withdraw(lie);
    world.outlast();
    const after = await surveyReleases(world, index, type);
    if (oracle.hasCrashed) return;
    expectUnchanged(before, during, lie, "while it was offered");
    expectUnchanged(before, after, lie, "after it was gone");
  } else registry.withdraw(lie);
}

/** True for an offer that is refused in any case, and that takes no key back: that would take evidence away. */
function isHarmless(
  { registry, oracle, machine }: World,
  lie: OfferLie,
): boolean {
  const offer = registry.findOffer(lie);
  if (offer === undefined || lie.keys !== "beside" || machine.disk.isFull)
    return false;
  if (!registry.answers(lie.type)) return false;
  const { signed, isVerified, takenBack } = showOffer(
    offer,
    oracle.settings,
    machine.clock.now(),
  );
  if (takenBack.length > 0) return false;
  const shown = { signed, isVerified, wasAcceptable: false };
  return (
    isVerified &&
    (conflicts(oracle, signed) || findReason(oracle, shown) === undefined) &&
    !oracle.decided.listApproved(lie).includes(signed.sha256sums)
  );
}

/** True where clients got a list with something in it. */
function lists({ listed }: Survey): boolean {
  return listed.kind === "versions" && listed.versions.length > 0;
}

/** True for another content than the one that was served first. */
function conflicts({ first }: World["oracle"], signed: SignedText): boolean {
  return first.list(signed).some(([platform, sha256]) => {
    const named = signed.digests[platform];
    return named !== undefined && named !== sha256;
  });
}

/** People find what was offered and refused among what needs a decision. */
async function expectPending(
  world: World,
  lie: OfferLie,
  sha256sums: string,
): Promise<void> {
  const { settings, oracle } = world;
  const { pins, newKeys } = settings;
  const { signer, content } = lie;
  // A look-up that says what is known, with the same keys, ends there.
  const isNewKey =
    attackers.includes(signer ?? "K1") &&
    !oracle.shown
      .of(lie)
      .some((text) => text.wasAcceptable && text.signed.signer === signer);
  const isSeen = content === "other" || isNewKey;
  const isUndecided =
    isSeen &&
    pins === undefined &&
    newKeys !== "refuse" &&
    !(signer && oracle.decided.isPossible("revoked", signer, lie));
  if (!isUndecided || settings.offline || world.hasLost(lie.type)) return;
  const pending = await world.listPending(lie);
  if (!pending.some((one) => one.sha256sums === sha256sums))
    throw new Violation(
      6,
      `${nameOfRelease(lie)} by ${signer} is no candidate`,
    );
}

/** Throws Violation unless each served release is still served unchanged. */
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
    if (answer.kind === "packages" && !isSameAnswer(answer, now))
      throw new Violation(
        6,
        `${name} was served otherwise ${when} (${nameOfRelease(lie)} by ${lie.signer})`,
      );
  }
}
