import { expect, it } from "vitest";
import {
  settleModule,
  type ModuleContent,
  type ModulePin,
} from "../../src/trust/module-pin.ts";

type Trust = ModulePin<ModuleContent>;

const now = new Date("2026-01-01T00:00:00Z");
const nothing: Trust = { pinned: undefined, contents: [] };

/** Offers contents one after the other, and has people hear of each. */
function offer(digests: string, approving = "", trust = nothing) {
  const approved = Array.from(approving);
  let settled = settleModule(trust, approved, now);
  for (const digest of digests) {
    const { pinned, contents } = settled.noted;
    const others = contents.filter((one) => one.digest !== digest);
    const [known = { digest, noted: undefined }] = contents.filter(
      (one) => one.digest === digest,
    );
    const offered = { pinned, contents: [...others, known] };
    settled = settleModule(offered, approved, now);
  }
  return settled;
}

const told = ({ events }: ReturnType<typeof offer>) =>
  events.map(({ kind, digest }) => `${kind} ${digest}`);
const known = ({ noted }: ReturnType<typeof offer>) =>
  noted.contents.map(({ digest }) => digest).join("");

it("nothing is served and nothing pinned before anything was offered", () => {
  const settled = offer("", "a");
  expect(settled).toMatchObject({ events: [], served: undefined });
  expect(settled.noted).toEqual(nothing);
});

it("the first content is pinned, and stays", () => {
  const first = offer("a");
  expect(told(first)).toEqual(["pinned a"]);
  expect(first.admitted.pinned).toMatchObject({
    ...{ digest: "a", at: now, isAudited: false },
  });
  expect(first.noted.pinned?.isAudited).toBe(true);
  for (const later of ["a", "b", "ba", "bcb"])
    expect(offer(later, "", first.noted).served?.digest).toBe("a");
});

it("a pin that nobody heard of is told by the next one who asks", () => {
  const { admitted } = offer("a");
  expect(told(offer("", "", admitted))).toEqual(["pinned a"]);
});

it("another content is a candidate, told once, until the pinned one is offered again", () => {
  const other = offer("ab");
  expect(told(other)).toEqual(["other-content b"]);
  expect(told(offer("b", "", other.noted))).toEqual([]);
  const healed = offer("a", "", other.noted);
  expect(told(healed)).toEqual(["healed a"]);
  expect(known(healed)).toBe("a");
});

it("the newest approval of what was offered is served, and what was pinned once it is taken back", () => {
  const { noted } = offer("abc");
  const approved = offer("", "b", noted);
  expect(approved.served?.digest).toBe("b");
  expect(told(approved)).toEqual(["approved b"]);
  expect(offer("", "cb", noted).served?.digest).toBe("c");
  expect(offer("", "dcb", noted).served?.digest).toBe("c");
  expect(known(offer("a", "b", approved.noted))).toBe("ba");
  const revoked = offer("", "", approved.noted);
  expect(revoked.served?.digest).toBe("a");
  expect(told(revoked)).toEqual(["other-content b"]);
});
