import { describe, expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import { emptyNamespace } from "../../../src/trust/state.ts";
import type { TrustEntry } from "../../../src/mirror/trust/trust-entry.ts";
import { type NamespaceBody } from "../../../src/mirror/trust/trust-records.ts";
import { learnProviderKey } from "../../../src/trust/first-contact.ts";
import {
  asItIs,
  place,
  prepareTrust,
  revokeK,
} from "../../scenes/trust-records.ts";
import { contact, E, K } from "../../trust/releases.ts";

const nothing = { ...emptyNamespace, contacts: [], resets: [] };
const learn = (type: string) => (namespace: NamespaceBody) =>
  learnProviderKey(namespace, { type, version: "1.0.0" }, K);

describe("the trust of a namespace", () => {
  it("is empty at first, and asking writes nothing", async () => {
    const { open, records } = await prepareTrust();
    const entry = open();
    expect(() => entry.trust).toThrow("renew was not awaited");
    expect(await entry.renew()).toEqual(nothing);
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
      other.decide(revokeK),
    ]);
    const { providerKeys, decisions } = await open().renew();
    expect(providerKeys.map(({ type }) => type).toSorted()).toEqual(["a", "b"]);
    expect(decisions.keys).toHaveLength(1);
  });

  it("has the decisions of another process once it forgot", async () => {
    const { open } = await prepareTrust();
    const entry = open();
    const known = await entry.renew();
    await open().decide(revokeK);
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
      await expect(entry.decide(revokeK)).rejects.toThrow(expected);
      expect(entry.trust).toEqual(nothing);
      await expect(entry.createContact("thing", contact())).rejects.toThrow(
        expected,
      );
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
      await entry.createContact("thing", contact());
      writes.let(() => fate);
      await expect(entry.decide(revokeK)).rejects.toThrow("killed");
      const { decisions } = await open(reopen()).renew();
      expect(decisions.keys).toHaveLength(fate === "dies after" ? 1 : 0);
    },
  );

  it.each([
    ["is answered", undefined],
    ["dies before its write", "dies before"],
    ["dies after its write", "dies after"],
  ] as const)(
    "whose process %s is unknown once its record is lost, never forgotten",
    async (_, fate) => {
      const { open, reopen, lose, writes } = await prepareTrust();
      await open().change(learn("thing"));
      writes.let(() => fate);
      const decided = open().decide(revokeK);
      if (fate === undefined) await decided;
      else await expect(decided).rejects.toThrow("killed");
      lose(place.namespace);
      const later = open(reopen());
      const lost = failing("record-unreadable");
      await expect(later.renew()).rejects.toThrow(lost);
      await expect(later.decide(revokeK)).rejects.toThrow("it is missing");
    },
  );
});

describe("a namespace whose record is lost while a process knows it", () => {
  it.each([
    ["itself", (entry: TrustEntry) => entry.change(learn("thing"))],
    ["by another process", () => Promise.resolve()],
  ])("is not begun again after a change %s", async (_, begin) => {
    const { open, lose, records } = await prepareTrust();
    const entry = open();
    await entry.renew();
    await begin(entry);
    await open().decide(revokeK);
    lose(place.namespace);
    await expect(entry.change(learn("other"))).rejects.toThrow("it is missing");
    expect(await records.read(place.namespace, asItIs)).toBeUndefined();
    await expect(entry.renew()).rejects.toThrow(failing("record-unreadable"));
  });
});

describe("a first contact", () => {
  it("is what was written first, for every process", async () => {
    const { open } = await prepareTrust();
    const [one, other] = [open(), open()];
    await one.change(learn("thing"));
    await other.renew();
    const [first, second] = await Promise.all([
      one.createContact("thing", contact({ id: "one" })),
      other.createContact("thing", contact({ id: "other", key: E })),
    ]);
    expect(second.id).toBe(first.id);
    const third = open();
    await third.renew();
    expect(await third.findContact("thing")).toEqual(first);
  });

  it("that is lost is unknown once a release of its provider is recorded", async () => {
    const { open, lose, record } = await prepareTrust();
    const entry = open();
    await entry.change(learn("thing"));
    await entry.createContact("thing", contact());
    await record();
    lose(place.contact());
    const later = open();
    await later.renew();
    await expect(later.findContact("thing")).rejects.toThrow(
      failing("record-unreadable"),
    );
    await expect(later.findContact("thing")).rejects.toThrow(
      "it is missing, and records that were written after it exist",
    );
    expect(await later.findContact("other")).toBeUndefined();
  });

  it("that is lost is unknown though clients asked only for the list", async () => {
    const { open, lose } = await prepareTrust();
    const entry = open();
    await entry.change((namespace) => ({
      ...namespace,
      firstKey: { type: "other", fingerprint: K },
    }));
    await entry.createContact("other", contact());
    const made = await entry.createContact("thing", contact());
    expect(entry.isNoted("thing", made)).toBe(false);
    await entry.noteContact("thing", made);
    expect(entry.isNoted("thing", made)).toBe(true);
    lose(place.contact());
    const later = open();
    await later.renew();
    await expect(later.findContact("thing")).rejects.toThrow(
      failing("record-unreadable"),
    );
    expect(await later.findContact("other")).toBeDefined();
  });
});
