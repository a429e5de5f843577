import { LRUCache } from "lru-cache";
import { describe, expect, it } from "vitest";
import { ProviderChanges } from "../../../src/mirror/cache/provider-changes.ts";
import {
  TrustEntry,
  TrustStore,
} from "../../../src/mirror/trust/trust-store.ts";
import { addCandidate, dropCandidates } from "../../../src/trust/candidates.ts";
import { learnProviderKey } from "../../../src/trust/first-contact.ts";
import {
  type FirstContact,
  type NamespaceTrust,
  emptyNamespace,
} from "../../../src/trust/state.ts";
import { failing } from "../../scenes/failing.ts";
import { address } from "../../scenes/release-sketches.ts";
import { FailingRecords, Writes } from "../../scenes/failing-writes.ts";
import { makeSigners, prepareMet } from "../../scenes/mirror-in-process.ts";
import { damageRecord, makeLayout } from "../../store/stores.ts";
import { contact, E, K, keyDecision } from "../../trust/releases.ts";

const { provider } = address;
const { hostname, namespace } = provider;
const acme = { hostname, namespace };
const candidate = (sha256sums: string, fingerprint?: string) => ({
  ...{ version: "2.0.0", sha256sums, fingerprint },
  ...{ reason: "unknown" as const, since: "2026-01-01T00:00:00.000Z" },
});
const decisions = {
  keys: [keyDecision(K, "revoked", { type: null })],
  contents: [],
};
const revoke = (trust: NamespaceTrust) => ({ ...trust, decisions });
const learn = (type: string) => (trust: NamespaceTrust) =>
  learnProviderKey(trust, { type, version: "1.0.0" }, K);
/** Writes a first contact alone. */
const meet = (entry: TrustEntry, made: FirstContact, type = "thing") =>
  entry.createContact(
    type,
    made,
    (trust) => trust,
    () => Promise.resolve(),
  );

/** Trust records of a store of its own. */
async function prepareTrust() {
  const layout = await makeLayout();
  const writes = new Writes();
  const records = new FailingRecords(layout, writes);
  return {
    writes,
    /** An entry as another process has it. */
    open: (of = records) => {
      const contacts = new LRUCache<string, FirstContact>({ max: 1 });
      return new TrustEntry(of, acme, new ProviderChanges(of), contacts);
    },
    /** The records as the next process has them. */
    reopen: () => new FailingRecords(layout, new Writes()),
    openStore: () => new TrustStore(records, new ProviderChanges(records)),
  };
}

describe("the trust of a namespace", () => {
  it("keeps what two processes change at once, has at once what its own does, and what another one does once it forgot", async () => {
    const { open, writes } = await prepareTrust();
    const [one, other] = [open(), open()];
    const [known] = await Promise.all([one.renew(), other.renew()]);
    expect(known).toEqual(emptyNamespace);
    expect(writes.names).toEqual([]);
    await Promise.all([other.change(learn("b")), other.change(revoke)]);
    expect(other.trust.decisions).toEqual(decisions);
    await one.renew();
    expect(one.trust).toBe(known);
    one.forget();
    expect((await one.renew()).decisions).toEqual(decisions);
    await Promise.all([one.change(learn("a")), other.change(learn("c"))]);
    const { providerKeys } = await open().renew();
    expect(
      providerKeys
        .map(({ type }) => type)
        .toSorted()
        .join(),
    ).toBe("a,b,c");
  });

  it.each([
    ["ENOSPC", failing("store-full")],
    ["EMFILE", "EMFILE"],
  ])(
    "is not changed by what cannot be written (%s)",
    async (code, expected) => {
      const { open, writes } = await prepareTrust();
      const entry = open();
      await entry.renew();
      writes.let(() => "fails", code);
      await expect(entry.change(revoke)).rejects.toThrow(expected);
      expect(entry.trust).toEqual(emptyNamespace);
      await expect(meet(entry, contact())).rejects.toThrow(expected);
      writes.let();
      expect(await entry.findContact("thing")).toBeUndefined();
    },
  );

  it.each(["dies before", "dies after"] as const)(
    "has a decision or not, as a whole, where the process %s its write",
    async (fate) => {
      const { open, reopen, writes } = await prepareTrust();
      const entry = open();
      await entry.change(learn("thing"));
      writes.let((name) => (name === "commit" ? fate : undefined));
      await expect(entry.change(revoke)).rejects.toThrow("killed");
      const { decisions } = await open(reopen()).renew();
      expect(decisions.keys).toHaveLength(fate === "dies after" ? 1 : 0);
    },
  );

  it("has the first contact that was written first, for every process", async () => {
    const { open } = await prepareTrust();
    const [one, other, third] = [open(), open(), open()];
    const [first, second] = await Promise.all([
      meet(one, contact({ id: "one" })),
      meet(other, contact({ id: "other", key: E })),
    ]);
    expect(second.id).toBe(first.id);
    expect(await third.findContact("thing")).toEqual(first);
  });
});

it("the trust store has one entry for all requests of a namespace, and lists those of which something is recorded", async () => {
  const store = (await prepareTrust()).openStore();
  const listed = async () =>
    (await Array.fromAsync(store.readAll())).map(
      (one) => "namespace" in one && one.namespace,
    );
  expect(await store.open(acme)).toBe(await store.open({ ...acme }));
  expect(await listed()).toEqual([]);
  const zeta = { ...acme, namespace: "zeta" };
  for (const one of [acme, zeta]) {
    expect((await store.read(one)).decisions.keys).toEqual([]);
    await store.decide(one, () => decisions);
    expect((await store.read(one)).decisions).toEqual(decisions);
  }
  expect(await listed()).toEqual([acme, zeta]);
});

it("the trust store keeps first contacts in memory as far as their versions fit", async () => {
  const store = (await prepareTrust()).openStore();
  const entry = await store.open(acme);
  const versions = new Set(
    Array.from({ length: 70_000 }, (_, at) => `1.${at}.0`),
  );
  const [first, second] = [contact({ versions }), contact({ versions })];
  await meet(entry, first);
  await meet(entry, second, "second");
  expect(await entry.findContact("thing")).toBe(first);
  await meet(entry, contact({ versions }), "third");
  expect(await entry.findContact("second")).not.toBe(second);
});

it("the trust store has no candidates at first, writes none that change nothing, and reads them back, also unsigned ones", async () => {
  const { openStore, writes } = await prepareTrust();
  const store = openStore();
  expect(await store.readCandidates(provider)).toEqual([]);
  await store.changeCandidates(provider, (list) =>
    dropCandidates(list, "1.0.0"),
  );
  expect(writes.names).toEqual([]);
  const list = [candidate("a", E), candidate("b")];
  await store.changeCandidates(provider, (before) =>
    list.reduce(addCandidate, before),
  );
  expect(await openStore().listCandidates(acme)).toEqual(
    list.map((one) => ({ ...one, type: "thing" })),
  );
});

it.each(["namespaces", "first_contacts"] as const)(
  "a provider of which a record cannot be read is refused, and nothing is written in its place (%s)",
  async (table) => {
    const { scene } = await prepareMet((await makeSigners()).K);
    const key = [table, hostname, namespace] as const;
    const record = table === "namespaces" ? key : ([...key, "thing"] as const);
    damageRecord(scene.layout, record);
    const [later, offline] = [scene.start(), scene.start({ offline: true })];
    const unknown = "record-unreadable";
    for (const one of [later, later, offline])
      expect(await one.version("1.0.0")).toBe(unknown);
    expect(await later.version("2.0.0")).toBe(unknown);
    for (const one of [later, offline]) expect(await one.index()).toBe(unknown);
    expect([later, offline].flatMap((one) => one.writes.names)).toEqual([]);
  },
);
