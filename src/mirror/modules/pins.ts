import { failure } from "../../errors/index.ts";
import { asStoreFull } from "../../store/file-failure.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import { listApproved, type Decisions } from "../../trust/decisions.ts";
import { settleModule, type ModuleEvent } from "../../trust/module-pin.ts";
import type { TrustEvent } from "../../trust/settle.ts";
import type { Clock } from "../cache/clock.ts";
import type { Told, TrustEvents } from "../trust/trust-events.ts";
import type { TrustStore } from "../trust/trust-store.ts";
import { pinKey, readModuleTrust } from "./records.ts";
import {
  asDecided,
  formatModuleRelease,
  unknownModule,
  type ModuleOffer,
  type ModuleReleaseAddress,
  type ModuleTrust,
} from "./release.ts";

/** Contents that are kept of one release (docs/trust.md, rule 2). */
const mostContents = 8;

export type ModulePins = ReturnType<typeof makeModulePins>;

/** The one place where modules are admitted: it settles what is known and offered, writes, and answers with what clients get. */
export function makeModulePins(
  records: RecordStore,
  trust: TrustStore,
  events: TrustEvents,
  clock: Clock,
) {
  /** Finds what clients get, with `offered` beside what is known; undefined while nothing was admitted. */
  const settle = async (
    address: ModuleReleaseAddress,
    offered?: ModuleOffer,
  ): Promise<ModuleOffer | undefined> => {
    const entry = await trust.open(address.module);
    const decide = (known: ModuleTrust) => {
      const asked = offered === undefined ? known : addOffer(known, offered);
      const { decisions } = entry.trust;
      const settled = settleBy(address, decisions, asked, clock.now());
      // As they are written.
      const isSame = JSON.stringify(settled.release) === JSON.stringify(known);
      return { ...settled, release: isSame ? known : settled.release };
    };
    const key = pinKey(asDecided(address));
    const known = (await records.read(key, readModuleTrust)) ?? unknownModule;
    let settled = decide(known);
    if (settled.release === known) return settled.served;
    try {
      // The decision together with what people hear of it; another one may have been first.
      await records.transact(async () => {
        await records.change(key, readModuleTrust, (before) => {
          settled = decide(before ?? unknownModule);
          const { pinned, contents: evidence } = settled.release;
          return settled.release === before ? before : { pinned, evidence };
        });
        for (const event of settled.events)
          await events.note(asDecided(address), inWords(event));
      });
    } catch (error) {
      throw asStoreFull(formatModuleRelease(address), error);
    }
    return settled.served;
  };

  /** Pins an offer that is the first; throws module-replaced where clients get other content. */
  const admit = async (
    address: ModuleReleaseAddress,
    offered: ModuleOffer,
  ): Promise<ModuleOffer> => {
    const served = (await settle(address, offered)) ?? offered;
    if (isSame(served, offered)) return served;
    const [expected, got] = [served.digest, offered.digest];
    throw failure("module-replaced", asDecided(address), expected, got);
  };

  return {
    settle,
    admit,
    /** Settles, but an offer pins nothing. */
    compare: async (address: ModuleReleaseAddress, offered: ModuleOffer) => {
      if ((await settle(address)) !== undefined) await settle(address, offered);
    },
    /** Admits, but an offer pins nothing; false where nothing is known. */
    expectSame: async (address: ModuleReleaseAddress, offered: ModuleOffer) => {
      const isKnown = (await settle(address)) !== undefined;
      if (isKnown) await admit(address, offered);
      return isKnown;
    },
  };
}

/** Finds what clients get by what is recorded, and changes nothing. */
export async function findServed(
  records: RecordStore,
  trust: Pick<TrustStore, "read">,
  address: ModuleReleaseAddress,
): Promise<ModuleOffer | undefined> {
  const key = pinKey(asDecided(address));
  const release = await records.read(key, readModuleTrust);
  if (release === undefined) return undefined;
  const { decisions } = await trust.read(address.module);
  return settleBy(address, decisions, release, new Date(0)).served;
}

function settleBy(
  address: ModuleReleaseAddress,
  decisions: Decisions,
  release: ModuleTrust,
  now: Date,
) {
  const { provider, version } = asDecided(address);
  const approved = listApproved(decisions, { type: provider.type, version });
  return settleModule(release, approved, now);
}

/** What people hear of a module is what they hear of a release of a provider, but for a key. */
function inWords({ kind, digest }: ModuleEvent): TrustEvent<Told> {
  const evidence = { sha256sums: digest };
  if (kind === "approved")
    return { kind: "accepted", evidence, because: kind, alarms: false };
  return kind === "other-content"
    ? { kind: "candidate", evidence, reason: kind }
    : { kind, evidence };
}

/** Adds an offer as the last one; what was learnt of the same content before is kept. The pinned content is never dropped, and an approved one only for want of others. */
function addOffer(
  { pinned, contents }: ModuleTrust,
  offered: ModuleOffer,
): ModuleTrust {
  const same = contents.find((one) => isSame(one, offered));
  const newest = same === undefined ? offered : join(same, offered);
  const others = contents.filter((one) => one !== same);
  const spare = others.filter(({ digest }) => digest !== pinned?.digest);
  const dropped =
    others.length < mostContents
      ? undefined
      : (spare.find(({ noted }) => noted !== "approved") ?? spare[0]);
  const kept = others.filter((one) => one !== dropped);
  return { pinned, contents: [...kept, newest] };
}

/** Joins what is known of one content; the same commit may be packed into other bytes by another version of the mirror, in the same folder. */
function join(same: ModuleOffer, offered: ModuleOffer): ModuleOffer {
  const known = same.archive ?? offered.archive;
  const archive =
    known && offered.archive && known.sha256 !== offered.archive.sha256
      ? { ...offered.archive, subdirectory: known.subdirectory }
      : known;
  const foreign = offered.foreign ?? same.foreign;
  return {
    ...same,
    place: offered.place ?? same.place,
    archive,
    foreign: archive === undefined ? foreign : undefined,
  };
}

/** True for one content, also where the archive of a known commit comes without it. */
function isSame(known: ModuleOffer, offered: ModuleOffer): boolean {
  return (
    known.digest === offered.digest ||
    (offered.commit === undefined &&
      offered.archive !== undefined &&
      known.archive?.sha256 === offered.archive.sha256)
  );
}
