import { Violation } from "../oracle/violation.ts";
import type { Action, OfferLie } from "../world/actions.ts";
import { formatAnswer } from "../world/answers.ts";
import type { ReleaseName } from "../world/documents.ts";
import { forge } from "../world/lies.ts";
import { nameOfRelease } from "../world/publisher.ts";
import type { Offer } from "../world/registry.ts";
import { formatKeyBlock } from "../world/toy-keys.ts";
import type { World } from "../world/world.ts";
import { isDecided } from "./survey.ts";

/** Imports a bundle, and sees that what it took is served where no origin is asked. */
export async function importBundleOf(
  world: World,
  { names, lies, process }: Action & { readonly kind: "import" },
): Promise<string> {
  const offers = makeOffers(world, names, lies);
  const { oracle } = world;
  oracle.noteBundle(offers);
  const { taken, answer } = await world.rim.importOffers(process, offers);
  if (answer.kind === "dead") oracle.hasCrashed = true;
  for (const { signed } of offers)
    if (taken.includes(signed.version)) oracle.contacts.settle(signed.type);
  if (world.settings.offline && isDecided(answer))
    for (const { signed } of offers)
      if (taken.includes(signed.version))
        await expectServed(world, process, signed);
  return `${formatAnswer(answer)} (${taken.join(" ")})`;
}

async function expectServed(
  world: World,
  process: number,
  name: ReleaseName,
): Promise<void> {
  const { type, version } = name;
  const answer = await world.askFor(process, "version", { type, version });
  if (isDecided(answer) && answer.kind !== "packages")
    throw new Violation(
      5,
      `${nameOfRelease(name)} was imported and is refused`,
    );
}

/** One offer for each release: a lie goes before what the publisher made. */
function makeOffers(
  world: World,
  names: readonly ReleaseName[],
  lies: readonly OfferLie[],
): readonly Offer[] {
  const { registry, publisher, now } = world;
  const own = publisher.keys.map((name) =>
    formatKeyBlock({ name, state: "valid" }),
  );
  const offers = new Map<string, Offer>();
  for (const name of names) {
    const signed = publisher.findCurrent(name);
    if (signed !== undefined)
      offers.set(nameOfRelease(name), { signed, blocks: own });
  }
  for (const lie of lies) {
    const signed = forge(registry, lie, now);
    const blocks =
      signed.signer === undefined
        ? []
        : [formatKeyBlock({ name: signed.signer, state: "valid" })];
    offers.set(nameOfRelease(lie), { signed, blocks });
  }
  return [...offers.values()];
}
