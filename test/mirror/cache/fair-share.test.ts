import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isFailure } from "../../../src/errors/index.ts";
import { failing } from "../../scenes/failing.ts";
import {
  FairShare,
  longestWait,
  patienceWithEqual,
  patienceWithGreedy,
  patienceWithUnwanted,
  type Turn,
} from "../../../src/mirror/cache/fair-share.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const beat = 1_000;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Download that runs until the test or the fair share ends it. */
class Download {
  isWanted = true;
  turn: Turn | undefined;
  outcome: unknown;
  readonly #end = Promise.withResolvers<void>();

  constructor(
    share: FairShare,
    place: { origin?: string; namespace?: string; host?: string } = {},
    signal?: AbortSignal,
  ) {
    const { origin = "a.example", namespace = "acme", host } = place;
    const isWanted = () => this.isWanted;
    const run = async () => {
      using turn = await share.take({ origin, namespace, isWanted }, signal);
      this.turn = turn;
      if (host !== undefined) turn.noteHost(host);
      turn.signal.addEventListener("abort", () =>
        this.#end.reject(turn.signal.reason),
      );
      await this.#end.promise;
      return "done";
    };
    run().then(
      (done) => (this.outcome = done),
      (error: unknown) => (this.outcome = error),
    );
  }

  end(): void {
    this.#end.resolve();
  }

  /** Whether it may take in the next piece now. */
  async mayProceed(): Promise<boolean> {
    let may = false;
    void this.turn?.proceed().then(
      () => (may = true),
      () => undefined,
    );
    await pass(0);
    return may;
  }
}

function makeShare(fills = 64, fillsPerOrigin = 8): FairShare {
  return new FairShare({ fills, fillsPerOrigin });
}

function eight(
  share: FairShare,
  place: (index: number) => ConstructorParameters<typeof Download>[1],
): readonly Download[] {
  return Array.from({ length: 8 }, (_, n) => new Download(share, place(n)));
}

async function countProceeding(all: readonly Download[]): Promise<number> {
  const allowed = await Promise.all(all.map((one) => one.mayProceed()));
  return allowed.filter(Boolean).length;
}

describe("places", () => {
  it("are as many for each origin, and in all, as the limits say", async () => {
    const share = makeShare(3, 2);
    const all = ["a", "a", "a", "b", "b"].map(
      (origin) => new Download(share, { origin }),
    );
    await pass(0);
    const begun = () => all.map(({ turn }) => turn !== undefined);
    expect(begun()).toEqual([true, true, false, true, false]);
    all[3]?.end();
    await pass(0);
    expect(begun()).toEqual([true, true, false, true, true]);
    all[0]?.end();
    await pass(0);
    expect(begun()).toEqual([true, true, true, true, true]);
  });

  it("go first to a namespace that has none, then as they came", async () => {
    const share = makeShare(64, 2);
    const running = [new Download(share), new Download(share)];
    const more = [new Download(share), new Download(share)];
    const other = new Download(share, { namespace: "other" });
    await pass(0);
    running[0]?.end();
    await pass(0);
    expect([more[0]?.turn, more[1]?.turn]).toEqual([undefined, undefined]);
    expect(other.turn).toBeDefined();
    running[1]?.end();
    await pass(0);
    expect(more[0]?.turn).toBeDefined();
    expect(more[1]?.turn).toBeUndefined();
  });

  it("are given back by who has had a turn", async () => {
    const share = makeShare(1, 1);
    const sharer = { origin: "a", namespace: "a", isWanted: () => true };
    (await share.take(sharer))[Symbol.dispose]();
    const next = new Download(share);
    await pass(0);
    expect(next.turn).toBeDefined();
  });

  it("leave no timer when no download waits", async () => {
    const share = makeShare(1, 1);
    const [first, second] = [new Download(share), new Download(share)];
    await pass(beat);
    expect(vi.getTimerCount()).toBe(1);
    first.end();
    await pass(0);
    expect(vi.getTimerCount()).toBe(0);
    second.end();
  });
});

describe("an abandoned download", () => {
  it("goes on as long as no other waits", async () => {
    const share = makeShare();
    const all = eight(share, () => ({}));
    for (const one of all) one.isWanted = false;
    await pass(3_600_000);
    expect(await countProceeding(all)).toBe(8);
    expect(all.every(({ turn }) => turn?.signal.aborted === false)).toBe(true);
  });

  it("is ended for who waits, after a while in which it could end itself", async () => {
    const share = makeShare();
    const all = eight(share, () => ({}));
    await pass(0);
    for (const one of all) one.isWanted = false;
    const other = new Download(share, { namespace: "other" });
    await pass(patienceWithUnwanted - 1);
    expect(other.turn).toBeUndefined();
    await pass(beat);
    expect(other.turn).toBeDefined();
    expect(
      all.filter(({ outcome }) => isFailure(outcome, "too-busy")),
    ).toHaveLength(1);
  });

  it("is ended for others of the same namespace too, one for each who waits", async () => {
    const share = makeShare();
    const all = eight(share, () => ({}));
    await pass(0);
    for (const one of all) one.isWanted = false;
    const others = [1, 2, 3].map(() => new Download(share));
    await pass(patienceWithUnwanted + beat);
    expect(others.every(({ turn }) => turn !== undefined)).toBe(true);
    expect(
      all.filter(({ outcome }) => isFailure(outcome, "too-busy")),
    ).toHaveLength(3);
  });

  it("takes no other's place, and comes last", async () => {
    const share = makeShare(1, 1);
    const running = new Download(share);
    const unwanted = new Download(share, { namespace: "other" });
    unwanted.isWanted = false;
    const wanted = new Download(share);
    await pass(patienceWithGreedy + beat);
    expect(await running.mayProceed()).toBe(true);
    running.end();
    await pass(0);
    expect(wanted.turn).toBeDefined();
    expect(unwanted.turn).toBeUndefined();
  });
});

describe("downloads with readers", () => {
  const crowds: readonly [
    string,
    (index: number) => ConstructorParameters<typeof Download>[1],
  ][] = [
    ["of one namespace", () => ({ namespace: "slow" })],
    [
      "of one namespace on one host",
      () => ({ namespace: "slow", host: "slow.example" }),
    ],
    [
      "of eight namespaces on one host",
      (n) => ({ namespace: `slow-${n}`, host: "slow.example" }),
    ],
  ];

  it.each(crowds)(
    "%s make way for one who has nothing, and go on later",
    async (_, place) => {
      const share = makeShare();
      const all = eight(share, place);
      await pass(0);
      const other = new Download(share, { namespace: "other" });
      await pass(patienceWithGreedy + beat);
      expect(other.turn).toBeDefined();
      expect(await countProceeding(all)).toBe(7);
      other.end();
      await pass(0);
      expect(await countProceeding(all)).toBe(8);
      expect(all.map(({ outcome }) => outcome)).toEqual(
        Array(8).fill(undefined),
      );
    },
  );

  it("of one's own namespace and host take turns", async () => {
    const share = makeShare();
    const place = { namespace: "acme", host: "a.example" };
    const all = eight(share, () => place);
    await pass(0);
    const ninth = new Download(share, place);
    await pass(patienceWithGreedy + beat);
    ninth.turn?.noteHost("a.example");
    await pass(patienceWithEqual);
    expect(ninth.turn).toBeDefined();
    const many = [...all, ninth];
    const turns = new Set<number>();
    for (let n = 0; n < 9 * 35; n++) {
      await pass(beat);
      expect(await countProceeding(many)).toBe(8);
      for (const [index, one] of many.entries())
        if (!(await one.mayProceed())) turns.add(index);
    }
    expect(turns.size).toBe(9);
    expect(many.every(({ outcome }) => outcome === undefined)).toBe(true);
  });

  it("fill all places of all origins no longer than those of one", async () => {
    const share = makeShare(4, 2);
    for (const origin of ["a", "a", "b", "b"])
      new Download(share, { origin, namespace: "slow" });
    await pass(0);
    const other = new Download(share, { origin: "c" });
    await pass(patienceWithGreedy + beat);
    expect(other.turn).toBeDefined();
  });

  it("stand still in bounded number: beyond it one of those who have more is ended", async () => {
    const share = makeShare(64, 2);
    const all: Download[] = [];
    const add = async (namespace: string) => {
      all.push(new Download(share, { namespace, host: "slow.example" }));
      await pass(patienceWithEqual + beat);
    };
    for (let n = 0; n < 8; n++) await add("slow");
    const before = all.map(({ outcome }) => outcome);
    expect(before).toEqual(Array(8).fill(undefined));
    await add("other");
    expect(all.at(-1)?.turn).toBeDefined();
    expect(
      all.filter(({ outcome }) => isFailure(outcome, "too-busy")),
    ).toHaveLength(1);
  });
});

describe("waiting", () => {
  it("ends with a refusal when the turn does not come", async () => {
    const share = makeShare(1, 1);
    const running = new Download(share);
    const waiting = new Download(share);
    waiting.isWanted = false;
    await pass(longestWait - beat);
    expect(waiting.outcome).toBeUndefined();
    await pass(2 * beat);
    expect(waiting.outcome).toEqual(failing("too-busy"));
    expect(waiting.turn).toBeUndefined();
    expect(await running.mayProceed()).toBe(true);
  });

  it("ends with the mirror", async () => {
    const share = makeShare(1, 1);
    const closing = new AbortController();
    const all = [1, 2].map(() => new Download(share, {}, closing.signal));
    await pass(0);
    closing.abort(new Error("closing"));
    await pass(0);
    expect(all.map(({ outcome }) => (outcome as Error).message)).toEqual([
      "closing",
      "closing",
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
