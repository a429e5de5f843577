import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { hashOf, makeArchive } from "./archive.ts";

it("makes equal archives of equal options, and others of another seed", async () => {
  const options = { type: "a", version: "1.0.0", os: "linux", arch: "amd64" };
  const one = await makeArchive({ ...options, size: 5000 });
  const two = await makeArchive({ ...options, size: 5000 });
  const other = await makeArchive({ ...options, size: 5000, seed: 1 });

  expect(one.bytes.equals(two.bytes)).toBe(true);
  expect(other.h1).not.toBe(one.h1);
  expect(one.bytes.length).toBeGreaterThan(5000);
});

it("makes archives of which half can be compressed away", async () => {
  const options = { type: "a", version: "1.0.0", os: "linux", arch: "amd64" };
  const half = await makeArchive({ ...options, size: 1e6, content: "half" });

  expect(half.bytes.length).toBeGreaterThan(490_000);
  expect(half.bytes.length).toBeLessThan(520_000);
});

it("computes h1 over the names in the order of their bytes", () => {
  const sum = (text: string) => createHash("sha256").update(text);
  const line = (name: string) => `${sum(name).digest("hex")}  ${name}\n`;
  const expected = sum(line("B") + line("a")).digest("base64");

  expect(
    hashOf([
      ["a", Buffer.from("a")],
      ["B", Buffer.from("B")],
    ]),
  ).toBe(`h1:${expected}`);
});
