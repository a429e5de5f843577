import { isDeepStrictEqual } from "node:util";
import { formatModuleAddress } from "../../address/module-address.ts";
import { SingleFlight } from "../../concurrency/single-flight.ts";
import { failure, formatApproval, nameContent } from "../../errors/index.ts";
import { asStoreFull } from "../../store/file-failure.ts";
import type { AuditEntry } from "../../telemetry/audit-log.ts";
import { addCandidate, dropCandidates } from "../../trust/candidates.ts";
import { listApproved, type Decisions } from "../../trust/decisions.ts";
import { settleModule, type ModuleEvent } from "../../trust/module-pin.ts";
import type { Notebook } from "../trust/trust-events.ts";
import type { TrustStore } from "../trust/trust-store.ts";
import type { ModuleTrustRecords } from "./records.ts";
import {
  asDecided,
  formatModuleRelease,
  unknownModule,
  type ModuleOffer,
  type ModuleReleaseAddress,
  type ModuleTrust,
} from "./release.ts";

interface ModulePinsParts {
  readonly records: Pick<ModuleTrustRecords, "read" | "change">;
  readonly trust: TrustStore;
  readonly notebook: Notebook;
}

/** Contents that are kept of one release (docs/trust.md, rule 2). */
const mostContents = 8;
/** Attempts at a decision while other replicas write the same record. */
const mostTries = 8;

/** The one place where modules are admitted: it settles what is known and offered, writes, and answers with what clients get. */
export class ModulePins {
  readonly #parts: ModulePinsParts;
  readonly #writing = new SingleFlight<string, void>();

  constructor(parts: ModulePinsParts) {
    this.#parts = parts;
  }

  /** Finds what clients get, with `offered` beside what is known; undefined while nothing was admitted. */
  async settle(
    address: ModuleReleaseAddress,
    offered?: ModuleOffer,
  ): Promise<ModuleOffer | undefined> {
    const { trust, records, notebook } = this.#parts;
    const entry = await trust.open(address.module);
    const decisions = () => entry.trust.decisions;
    const name = formatModuleRelease(address);
    for (let tries = 0; tries < mostTries; tries++) {
      const before = (await records.read(address)) ?? unknownModule;
      const known = addOffered(before, offered);
      const now = notebook.clock.now();
      const settled = decide(address, decisions(), known, now);
      if (isDeepStrictEqual(settled.noted, before)) return settled.served;
      await this.#writing.run(name, () =>
        this.#write(address, decisions, offered).catch((error: unknown) => {
          throw asStoreFull(name, error);
        }),
      );
    }
    throw failure("too-busy", `writers of ${name}`);
  }

  /** The same, but an offer pins nothing. */
  async compare(
    address: ModuleReleaseAddress,
    offered: ModuleOffer,
  ): Promise<ModuleOffer | undefined> {
    const served = await this.settle(address);
    return served && this.settle(address, offered);
  }

  /** Pins an offer that is the first; throws module-replaced where clients get other content. */
  async admit(
    address: ModuleReleaseAddress,
    offered: ModuleOffer,
  ): Promise<ModuleOffer> {
    const served = (await this.settle(address, offered)) ?? offered;
    if (isSame(served, offered)) return served;
    const [expected, got] = [served.digest, offered.digest];
    throw failure("module-replaced", asDecided(address), expected, got);
  }

  /** The same, but an offer pins nothing; false where nothing is known. */
  async expectSame(
    address: ModuleReleaseAddress,
    offered: ModuleOffer,
  ): Promise<boolean> {
    if ((await this.settle(address)) === undefined) return false;
    await this.admit(address, offered);
    return true;
  }

  /** Pins first, then people hear of it, then that is noted: a crash in between repeats the rest. */
  async #write(
    address: ModuleReleaseAddress,
    decisions: () => Decisions,
    offered: ModuleOffer | undefined,
  ): Promise<void> {
    const { records, notebook } = this.#parts;
    let settled: ReturnType<typeof decide> | undefined;
    await records.change(address, (before) => {
      const known = addOffered(before, offered);
      settled = decide(address, decisions(), known, notebook.clock.now());
      return settled.admitted;
    });
    if (settled === undefined) return;
    const { admitted, noted, events } = settled;
    for (const event of events) await this.#tell(address, event);
    if (!isDeepStrictEqual(noted, admitted))
      await records.change(address, (now) => carryNotes(now, admitted, noted));
  }

  /** Resolves when it is durable. */
  async #tell(
    address: ModuleReleaseAddress,
    { kind, digest }: ModuleEvent,
  ): Promise<void> {
    const { trust, notebook } = this.#parts;
    const { provider, version } = asDecided(address);
    const release = { provider, version };
    const facts = { module: formatModuleAddress(address.module), version };
    const detail = nameContent(release, digest);
    const record = (entry: Pick<AuditEntry, "event" | "verdict" | "rule">) =>
      notebook.audit.record({ ...entry, detail, ...facts }, { durable: true });
    switch (kind) {
      case "pinned":
        return record({ event: "first-seen", verdict: "accepted" });
      case "approved": {
        const rule = "trust: approved";
        return record({ event: "replaced", verdict: "accepted", rule });
      }
      case "healed":
        return trust.changeCandidates(provider, (candidates) =>
          dropCandidates(candidates, version),
        );
      case "other-content": {
        const since = notebook.clock.now().toISOString();
        await trust.changeCandidates(provider, (candidates) =>
          addCandidate(candidates, {
            ...{ version, sha256sums: digest, fingerprint: undefined },
            ...{ reason: kind, since },
          }),
        );
        const rule = "pinned checksums";
        await record({ event: "replaced", verdict: "refused", rule });
        const approve = formatApproval(release, digest);
        const alarm = { ...facts, offered: digest, approve };
        notebook.alarms.raise("module-replaced", alarm);
      }
    }
  }
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
): Promise<ModuleOffer | undefined> {
  const release = await records.read(address);
  if (release === undefined) return undefined;
  const { decisions } = await trust.read(address.module);
  return decide(address, decisions, release, new Date(0)).served;
}

function decide(
  address: ModuleReleaseAddress,
  decisions: Decisions,
  release: ModuleTrust,
  now: Date,
) {
  const { provider, version } = asDecided(address);
  const approved = listApproved(decisions, { type: provider.type, version });
  return settleModule(release, approved, now);
}

/** Adds an offer; what was learnt of the same content before is kept. */
function addOffered(
  known: ModuleTrust,
  offered: ModuleOffer | undefined,
): ModuleTrust {
  if (offered === undefined) return known;
  const same = known.contents.find((one) => isSame(one, offered));
  return addLast(known, same === undefined ? offered : join(same, offered));
}

/** The pinned content is never dropped, and an approved one only for want of others. */
function addLast({ pinned, contents }: ModuleTrust, one: ModuleOffer) {
  const others = contents.filter(({ digest }) => digest !== one.digest);
  const spare = others.filter(({ digest }) => digest !== pinned?.digest);
  const dropped =
    others.length < mostContents
      ? undefined
      : (spare.find(({ noted }) => noted !== "approved") ?? spare[0]);
  const kept = others.filter((other) => other !== dropped);
  return { pinned, contents: [...kept, one] };
}

/** Notes in the record as it is now what people heard of it as it was `admitted`; contents that came meanwhile keep their own notes. */
function carryNotes(
  { pinned, contents }: ModuleTrust,
  admitted: ModuleTrust,
  noted: ModuleTrust,
): ModuleTrust {
  const told = new Map(noted.contents.map((one) => [one.digest, one.noted]));
  const known = new Set(admitted.contents.map(({ digest }) => digest));
  return {
    pinned: pinned && { ...pinned, isAudited: true },
    contents: contents.flatMap((one): ModuleOffer | [] => {
      if (!known.has(one.digest)) return one;
      if (!told.has(one.digest)) return [];
      return { ...one, noted: told.get(one.digest) };
    }),
  };
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
