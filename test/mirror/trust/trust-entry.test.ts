import { describe, expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import {
  type NamespaceTrust,
  emptyNamespace,
} from "../../../src/trust/state.ts";
import { learnProviderKey } from "../../../src/trust/first-contact.ts";
import {
  asItIs,
  meet,
  place,
  prepareTrust,
  revokeK,
} from "../../scenes/trust-records.ts";
import { contact, E, K } from "../../trust/releases.ts";

const revoke = (namespace: NamespaceTrust) => ({
  ...namespace,
  decisions: revokeK(namespace.decisions),
});
const learn = (type: string) => (namespace: NamespaceTrust) =>
  learnProviderKey(namespace, { type, version: "1.0.0" }, K);

describe("the trust of a namespace", () => {
  it("is empty at first, and asking writes nothing", async () => {
    const { open, records } = await prepareTrust();
    const entry = open();
    expect(() => entry.trust).toThrow("renew was not awaited");
    expect(await entry.renew()).toEqual(emptyNamespace);
    expect(await entry.findContact("thing")).toBeUndefined();
    expect(await records.read(place.namespace, asItIs)).toBeUndefined();
  });

  it("has at once what this process changes, and so does the disk", async () => {
    const { open } = await prepareTrust();
    const entry = open();
    await entry.change(learn("thing"));
    const [key] = entry.trust.providerKeys;
    expect(key).toEqual({
      ...{ type: "thing", version: "1.0.0", fingerprint: K },
    });
    expect(await open().renew()).toEqual(entry.trust);
  });

  it("keeps what two processes change at once", async () => {
    const { open } = await prepareTrust();
    const [one, other] = [open(), open()];
    await Promise.all([one.renew(), other.renew()]);
    await Promise.all([
      one.change(learn("a")),
      other.change(learn("b")),
      other.change(revoke),
    ]);
    const { providerKeys, decisions } = await open().renew();
    expect(providerKeys.map(({ type }) => type).toSorted()).toEqual(["a", "b"]);
    expect(decisions.keys).toHaveLength(1);
  });

  it("has the decisions of another process once it forgot", async () => {
    const { open } = await prepareTrust();
    const entry = open();
    const known = await entry.renew();
    await open().change(revoke);
    await entry.renew();
    expect(entry.trust).toBe(known);
    entry.forget();
    expect((await entry.renew()).decisions.keys).toHaveLength(1);
  });

  it.each([
    ["ENOSPC", failing("store-full")],
    ["EACCES", failing("store-full")],
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
});

describe("a decision", () => {
  it.each(["dies before", "dies after"] as const)(
    "counts or not, as a whole, where the process %s its write",
    async (fate) => {
      const { open, reopen, writes } = await prepareTrust();
      const entry = open();
      await entry.change(learn("thing"));
      await meet(entry, contact());
      writes.let((name) => (name === "commit" ? fate : undefined));
      await expect(entry.change(revoke)).rejects.toThrow("killed");
      const { decisions } = await open(reopen()).renew();
      expect(decisions.keys).toHaveLength(fate === "dies after" ? 1 : 0);
    },
  );
});

describe("a first contact", () => {
  it("is what was written first, for every process", async () => {
    const { open } = await prepareTrust();
    const [one, other] = [open(), open()];
    await one.change(learn("thing"));
    await other.renew();
    const [first, second] = await Promise.all([
      meet(one, contact({ id: "one" })),
      meet(other, contact({ id: "other", key: E })),
    ]);
    expect(second.id).toBe(first.id);
    const third = open();
    await third.renew();
    expect(await third.findContact("thing")).toEqual(first);
  });
});
