import { findReason } from "../oracle/acceptance.ts";
import type { Oracle } from "../oracle/oracle.ts";
import { showOffer } from "../oracle/snapshot.ts";
import { Violation } from "../oracle/violation.ts";
import type { OfferLie } from "../world/actions.ts";
import type { SignedText } from "../world/documents.ts";
import { nameOfRelease } from "../world/publisher.ts";
import { attackers } from "../world/toy-keys.ts";
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
function isHarmless({ registry, oracle, rim }: World, lie: OfferLie): boolean {
  const offer = registry.findOffer(lie);
  if (offer === undefined || lie.keys !== "beside" || rim.disk.isFull)
    return false;
  if (!registry.answers(lie.type)) return false;
  const { signed, isVerified, takenBack } = showOffer(
    offer,
    oracle.settings,
    rim.machine.clock.now(),
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
function conflicts({ first }: Oracle, signed: SignedText): boolean {
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
  const pending = await world.rim.listPending(lie);
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
