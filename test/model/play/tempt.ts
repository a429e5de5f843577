import { findReason } from "../oracle/acceptance.ts";
import { showOffer } from "../oracle/snapshot.ts";
import { Violation } from "../oracle/violation.ts";
import type { OfferLie } from "../world/actions.ts";
import { nameOfRelease } from "../world/publisher.ts";
import { freshness } from "../world/settings.ts";
import type { World } from "../world/world.ts";
import {
  isDecided,
  isSameAnswer,
  surveyReleases,
  type Survey,
} from "./survey.ts";

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
  world.machine.clock.pass(freshness.versions + 1_000);
  await surveyReleases(world, index, type);
  const before = await surveyReleases(world, index, type);
  world.lie(lie);
  if (isHarmless(world, lie)) {
    world.machine.clock.pass(freshness.versions + 1_000);
    const during = await surveyReleases(world, index, type);
    registry.withdraw(lie);
    world.machine.clock.pass(freshness.versions + 1_000);
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
  const { signed, isVerified, takenBack } = showOffer(offer, oracle.settings);
  if (takenBack.length > 0) return false;
  const shown = { signed, isVerified, wasAcceptable: false };
  return (
    isVerified &&
    findReason(oracle, shown) === undefined &&
    !oracle.decided.listApproved(lie).includes(signed.sha256sums)
  );
}

/** What was served stays served, and nothing else is. */
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
