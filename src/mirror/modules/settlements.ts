import { isDeepStrictEqual } from "node:util";
import { SingleFlight } from "../../concurrency/single-flight.ts";
import { failure } from "../../errors/index.ts";
import { asStoreFull } from "../../store/file-failure.ts";
import { addEvidence, settle, type Settled } from "../../trust/settle.ts";
import type { NamespaceTrust } from "../../trust/state.ts";
import { askUnsigned } from "../../trust/unsigned.ts";
import type { Clock } from "../cache/clock.ts";
import { isKept } from "../releases/known-release.ts";
import {
  carryNotes,
  nameSubject,
  type TrustEvents,
} from "../trust/trust-events.ts";
import type { TrustEntry } from "../trust/trust-entry.ts";
import type { TrustStore } from "../trust/trust-store.ts";
import type { ModuleTrustRecords } from "./records.ts";
import {
  formatModuleRelease,
  unknownModule,
  type ModuleEvidence,
  type ModuleReleaseAddress,
  type ModuleTrust,
} from "./release.ts";

interface ModuleSettlementsParts {
  readonly records: Pick<ModuleTrustRecords, "read" | "change">;
  readonly trust: TrustStore;
  readonly events: TrustEvents;
  readonly clock: Clock;
}

/** Attempts at a decision while other replicas write the same record. */
const mostTries = 8;

/** The one place where modules are admitted: it runs the core on what is known, writes, and answers with what clients get. */
export class ModuleSettlements {
  readonly #parts: ModuleSettlementsParts;
  readonly #writing = new SingleFlight<string, void>();

  constructor(parts: ModuleSettlementsParts) {
    this.#parts = parts;
  }

  /** Finds what clients get, with `offered` beside what is known; undefined while nothing was admitted. */
  async settle(
    address: ModuleReleaseAddress,
    offered?: ModuleEvidence,
  ): Promise<ModuleEvidence | undefined> {
    const { trust, records, clock } = this.#parts;
    const entry = await trust.open(address.module);
    const name = formatModuleRelease(address);
    for (let tries = 0; tries < mostTries; tries++) {
      const before = await records.read(address);
      const known = addOffered(before ?? unknownModule, offered);
      const settled = decide(address, entry.trust, known, clock.now());
      if (settled.noted === (before ?? unknownModule)) return servedBy(settled);
      await this.#writing.run(name, () =>
        this.#write(address, entry, offered).catch((error: unknown) => {
          throw asStoreFull(name, error);
        }),
      );
    }
    throw failure("too-busy", `writers of ${name}`);
  }

  /** The same, but an offer pins nothing. */
  async compare(
    address: ModuleReleaseAddress,
    offered: ModuleEvidence,
  ): Promise<ModuleEvidence | undefined> {
    const served = await this.settle(address);
    return served && this.settle(address, offered);
  }

  /** Pins first, then people hear of it, then that is noted: a crash in between repeats the rest. */
  async #write(
    address: ModuleReleaseAddress,
    entry: TrustEntry,
    offered: ModuleEvidence | undefined,
  ): Promise<void> {
    const { records, events, clock } = this.#parts;
    let settled: Settled<ModuleEvidence> | undefined;
    await records.change(address, (before) => {
      const known = addOffered(before, offered);
      settled = decide(address, entry.trust, known, clock.now());
      return settled.admitted;
    });
    if (settled === undefined) return;
    const { admitted, noted } = settled;
    for (const event of settled.events) await events.note(address, event);
    if (noted !== admitted)
      await records.change(address, (now) => carryNotes(now, admitted, noted));
  }
}

export function expectServed(
  address: ModuleReleaseAddress,
  served: ModuleEvidence | undefined,
  offered: ModuleEvidence,
): void {
  if (served === undefined || isSame(served, offered)) return;
  const named = nameSubject(address);
  throw failure(
    "module-replaced",
    named,
    served.sha256sums,
    offered.sha256sums,
  );
}

/** Finds what clients get by what is recorded, and changes nothing. */
export async function findServed(
  {
    records,
    trust,
  }: {
    readonly records: Pick<ModuleTrustRecords, "read">;
    readonly trust: Pick<TrustStore, "read">;
  },
  address: ModuleReleaseAddress,
): Promise<ModuleEvidence | undefined> {
  const release = await records.read(address);
  if (release === undefined) return undefined;
  const namespace = await trust.read(address.module);
  return servedBy(decide(address, namespace, release, new Date(0)));
}

function decide(
  address: ModuleReleaseAddress,
  namespace: NamespaceTrust,
  release: ModuleTrust,
  now: Date,
): Settled<ModuleEvidence> {
  const { provider, version } = nameSubject(address);
  const name = { type: provider.type, version };
  return settle(askUnsigned(name, namespace, release, now));
}

function servedBy({
  standing,
}: Settled<ModuleEvidence>): ModuleEvidence | undefined {
  return standing.kind === "served" ? standing.evidence : undefined;
}

/** Adds an offer; what was learnt of the same content before is kept. Returns `known` itself where nothing is new. */
function addOffered(
  known: ModuleTrust,
  offered: ModuleEvidence | undefined,
): ModuleTrust {
  if (offered === undefined) return known;
  const same = known.evidence.find((one) => isSame(one, offered));
  const joined = same === undefined ? offered : join(same, offered);
  return isDeepStrictEqual(joined, known.evidence.at(-1))
    ? known
    : addEvidence(known, joined, isKept(known));
}

/** Joins what is known of one content; the same commit may be packed into other bytes by another version of the mirror, in the same folder. */
function join(same: ModuleEvidence, offered: ModuleEvidence): ModuleEvidence {
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
function isSame(known: ModuleEvidence, offered: ModuleEvidence): boolean {
  return (
    known.id === offered.id ||
    (offered.commit === undefined &&
      offered.archive !== undefined &&
      known.archive?.sha256 === offered.archive.sha256)
  );
}
