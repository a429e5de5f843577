import { describe, expect, it } from "vitest";
import {
  addCandidate,
  dropCandidates,
  noCandidates,
} from "../../../src/trust/candidates.ts";
import { address } from "../../scenes/release-sketches.ts";
import { acme, prepareTrust, revokeK } from "../../scenes/trust-records.ts";
import { E } from "../../trust/releases.ts";

const { provider } = address;
const candidate = (sha256sums: string, version = "2.0.0") => ({
  ...{ version, sha256sums, fingerprint: E },
  ...{ reason: "unknown" as const, since: "2026-01-01T00:00:00.000Z" },
});

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
    const listed = async () =>
      (await Array.fromAsync(store.readAll())).map((one) => one.namespace);
    expect(await listed()).toEqual([]);
    const zeta = { ...acme, namespace: "zeta" };
    await store.decide(zeta, revokeK);
    await store.decide(acme, revokeK);
    expect(await listed()).toEqual([acme, zeta]);
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
