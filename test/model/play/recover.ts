import { isKeptUnsigned, isSurelyAcceptable } from "../oracle/acceptance.ts";
import { showOffer } from "../oracle/snapshot.ts";
import type { ShownText } from "../oracle/shown.ts";
import { Violation } from "../oracle/violation.ts";
import {
  types,
  versions,
  type ReleaseName,
  type SignedText,
} from "../world/documents.ts";
import { nameOfRelease } from "../world/publisher.ts";
import { isAhead } from "../world/toy-keys.ts";
import { type World } from "../world/world.ts";
import { isDecided, surveyFaces } from "./survey.ts";

/**
 * Heals the registry and the disk, has clients ask for the index twice, a period of
 * freshness apart, and for nothing else. Throws Violation where something that is
 * good is not served then.
 */
export async function recover(world: World, index: number): Promise<void> {
  const { registry, rim } = world;
  const began = world.machine.clock.now();
  registry.heal();
  rim.disk.isFull = false;
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
