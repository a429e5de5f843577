import { describe, expect, it } from "vitest";
import { TrustStore } from "../../../src/mirror/trust/trust-store.ts";
import {
  addCandidate,
  dropCandidates,
  noCandidates,
} from "../../../src/trust/candidates.ts";
import { learnProviderKey } from "../../../src/trust/first-contact.ts";
import { address } from "../../scenes/believed-releases.ts";
import {
  acme,
  meet,
  prepareTrust,
  revokeK,
} from "../../scenes/trust-records.ts";
import { contact, E, K } from "../../trust/releases.ts";

const { provider } = address;
const decided = { at: "2026-01-02T00:00:00Z", by: "alice", why: "it was lost" };
const candidate = (sha256sums: string, version = "2.0.0") => ({
  ...{ version, sha256sums, fingerprint: E },
  ...{ reason: "unknown" as const, since: "2026-01-01T00:00:00.000Z" },
});

/** A namespace whose provider was met and has a release on record. */
async function prepareMet(...types: readonly string[]) {
  const scene = await prepareTrust();
  const store = scene.openStore();
  const entry = await store.open(acme);
  for (const type of ["thing", ...types]) {
    await entry.change((namespace) => ({
      ...learnProviderKey(namespace, { type, version: "1.0.0" }, K),
      firstKey: { type: "thing", fingerprint: K },
    }));
    await meet(entry, contact(), type);
    await scene.record(type);
  }
  await store.decide(acme, revokeK);
  return { ...scene, store, entry };
}

describe("the trust store", () => {
  it("has one entry for all requests of a namespace, and another for another one", async () => {
    const { openStore } = await prepareTrust();
    const store = openStore();
    const [one, same, others] = await Promise.all([
      store.open(acme),
      store.open({ ...acme }),
      store.open({ ...acme, namespace: "other" }),
    ]);
    expect(one).toBe(same);
    expect(others).not.toBe(one);
    await store.decide(acme, revokeK);
    expect((await store.read(acme)).decisions.keys).toHaveLength(1);
    const other = await store.read({ ...acme, namespace: "other" });
    expect(other.decisions.keys).toEqual([]);
  });

  it("lists every namespace of which something is recorded, by name", async () => {
    const { openStore } = await prepareTrust();
    const store = openStore();
    expect(await store.list()).toEqual([]);
    const zeta = { ...acme, namespace: "zeta" };
    await store.decide(zeta, revokeK);
    await store.decide(acme, revokeK);
    expect(await store.list()).toEqual([acme, zeta]);
  });
});

describe("candidates", () => {
  it("are none at first, and asking or changing nothing writes nothing", async () => {
    const { openStore, writes } = await prepareTrust();
    const store = openStore();
    expect(await store.readCandidates(provider)).toBe(noCandidates);
    await store.changeCandidates(provider, (list) => list);
    await store.changeCandidates(provider, (list) =>
      dropCandidates(list, "1.0.0"),
    );
    expect(writes.names).toEqual([]);
  });

  it("are read back as they were, also unsigned ones, by every process", async () => {
    const { openStore } = await prepareTrust();
    const unsigned = { ...candidate("b"), fingerprint: undefined };
    await openStore().changeCandidates(provider, (list) =>
      addCandidate(addCandidate(list, candidate("a")), unsigned),
    );
    expect(await openStore().readCandidates(provider)).toEqual({
      list: [candidate("a"), unsigned],
      dropped: 0,
    });
    const listed = await openStore().listCandidates(acme);
    expect(listed.map(({ type }) => type)).toEqual(["thing"]);
  });
});

describe("a reset", () => {
  it("forgets the first contact of one provider and keeps every decision", async () => {
    const { store, entry } = await prepareMet("other");
    await store.reset(acme, "thing", decided);
    expect(await entry.findContact("thing")).toBeUndefined();
    expect(await entry.findContact("other")).toEqual(contact());
    expect(entry.trust.decisions.keys).toHaveLength(1);
    expect(entry.trust.firstKey).toEqual({ type: "thing", fingerprint: K });
    expect(entry.trust.providerKeys.map(({ type }) => type)).toEqual(["other"]);
    expect(entry.trust.resets).toEqual([{ type: "thing", ...decided }]);
  });

  it("forgets those of all providers of a namespace, and its key", async () => {
    const { store, entry } = await prepareMet("other");
    await store.reset(acme, undefined, decided);
    expect(await entry.findContact("thing")).toBeUndefined();
    expect(await entry.findContact("other")).toBeUndefined();
    expect(entry.trust).toMatchObject({
      firstKey: undefined,
      providerKeys: [],
    });
    expect(entry.trust.decisions.keys).toHaveLength(1);
  });

  it.each(["dies before", "dies after"] as const)(
    "whose process %s any of its writes forgets no contact that it does not name, and can be made again",
    async (fate) => {
      for (const step of [1, 2]) {
        const { store, writes, reopen, open } = await prepareMet();
        writes.letOne(step, fate);
        await store.reset(acme, "thing", decided).catch(() => undefined);
        const next = reopen();
        const entry = open(next);
        await entry.renew();
        const found = await entry.findContact("thing");
        const isReset = entry.trust.resets.length > 0;
        expect(found !== undefined || isReset).toBe(true);
        const again = new TrustStore(next);
        await again.reset(acme, "thing", decided);
        const after = await again.open(acme);
        expect(await after.findContact("thing")).toBeUndefined();
        expect(after.trust.resets).toHaveLength(1);
      }
    },
  );

  it("counts for a process that knew the contact, once it looks again", async () => {
    const { entry, openStore } = await prepareMet();
    expect(await entry.findContact("thing")).toBeDefined();
    await openStore().reset(acme, "thing", decided);
    entry.forget();
    await entry.renew();
    expect(await entry.findContact("thing")).toBeUndefined();
  });
});
