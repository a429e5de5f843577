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
    const { pinned, contents } = settled.release;
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
const known = ({ release }: ReturnType<typeof offer>) =>
  release.contents.map(({ digest }) => digest).join("");

it("nothing is served and nothing pinned before anything was offered", () => {
  const settled = offer("", "a");
  expect(settled).toMatchObject({ events: [], served: undefined });
  expect(settled.release).toEqual(nothing);
});

it("the first content is pinned, and stays", () => {
  const first = offer("a");
  expect(told(first)).toEqual(["pinned a"]);
  expect(first.release.pinned).toEqual({ digest: "a", at: now });
  for (const later of ["a", "b", "ba", "bcb"])
    expect(offer(later, "", first.release).served?.digest).toBe("a");
});

it("another content is a candidate, told once, until the pinned one is offered again", () => {
  const other = offer("ab");
  expect(told(other)).toEqual(["other-content b"]);
  expect(told(offer("b", "", other.release))).toEqual([]);
  const healed = offer("a", "", other.release);
  expect(told(healed)).toEqual(["healed a"]);
  expect(known(healed)).toBe("a");
});

it("the newest approval of what was offered is served, and what was pinned once it is taken back", () => {
  const { release } = offer("abc");
  const approved = offer("", "b", release);
  expect(approved.served?.digest).toBe("b");
  expect(told(approved)).toEqual(["approved b"]);
  expect(offer("", "cb", release).served?.digest).toBe("c");
  expect(offer("", "dcb", release).served?.digest).toBe("c");
  expect(known(offer("a", "b", approved.release))).toBe("ba");
  const revoked = offer("", "", approved.release);
  expect(revoked.served?.digest).toBe("a");
  expect(told(revoked)).toEqual(["other-content b"]);
});
