import { describe, expect, it } from "vitest";
import { nothingSeen } from "../../../src/mirror/trust/namespace-trust.ts";
import {
  acme,
  asItIs,
  prepareLedger,
  revokeK,
  seenKey,
  withLesson,
} from "../../scenes/ledger-scene.ts";

describe("the ledger", () => {
  it("has one entry for all requests of a namespace, and another for another one", async () => {
    const { ledger } = await prepareLedger();
    const [one, same, others] = await Promise.all([
      ledger.open(acme),
      ledger.open({ ...acme }),
      ledger.open({ ...acme, namespace: "other" }),
    ]);
    expect(one).toBe(same);
    expect(others).not.toBe(one);
    await one.noteSeen(withLesson("K"));
    expect((await ledger.read(acme)).seen.lessons).toHaveLength(1);
    expect(await ledger.open(acme)).toBe(one);
    expect((await ledger.read({ ...acme, namespace: "other" })).seen).toEqual(
      nothingSeen,
    );
  });

  it("begins and decides for its namespace alone", async () => {
    const { ledger, records } = await prepareLedger();
    await (await ledger.open(acme)).begin();
    await ledger.decide(acme, revokeK);
    expect(await records.read(seenKey, asItIs)).toMatchObject({
      hasDecisions: true,
    });
    expect((await ledger.read(acme)).decisions).toEqual(revokeK());
  });

  it("lists every namespace of which something is known, sorted", async () => {
    const { ledger } = await prepareLedger();
    expect(await ledger.list()).toEqual([]);
    const two = { ...acme, namespace: "zeta" };
    const decided = { ...acme, namespace: "beta" };
    await (await ledger.open(two)).begin();
    await (await ledger.open(acme)).begin();
    await ledger.decide(decided, revokeK);
    expect(await ledger.list()).toEqual([acme, decided, two]);
  });

  it("looks again after half a second, on the clock that it was given", async () => {
    const { ledger, open, pass } = await prepareLedger();
    await ledger.read(acme);
    await open().noteSeen(withLesson("K"));
    expect((await ledger.read(acme)).seen.lessons).toHaveLength(0);
    pass(500);
    expect((await ledger.read(acme)).seen.lessons).toHaveLength(1);
  });
});
