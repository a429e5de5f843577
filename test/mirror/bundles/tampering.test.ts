import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { digestOf, putTogether, tarEntry } from "./bundles.ts";
import { Tampering } from "./tampering.ts";

let tampering: Tampering;
beforeAll(async () => {
  tampering = await Tampering.start();
});
afterAll(() => tampering.stop());

describe("a bundle whose tar was tampered with", () => {
  it.each<[string, (header: Buffer) => void]>([
    ["a path that leads out", (h) => h.write("../../../etc/cron.d/x\0")],
    ["an absolute path", (h) => h.write("/etc/cron.d/x\0")],
    ["another name", (h) => h.write("archives/other.zip\0")],
    ["a hard link", (h) => h.write("1archives/x\0", 156)],
    ["a symbolic link", (h) => h.write("2/etc/passwd\0", 156)],
    ["a character device", (h) => h.write("3", 156)],
    ["a block device", (h) => h.write("4", 156)],
    ["a folder", (h) => h.write("5", 156)],
    ["a pipe", (h) => h.write("6", 156)],
    ["an extended header", (h) => h.write("x", 156)],
    ["a long name", (h) => h.write("L", 156)],
    ["another size", (h) => h.write("00000000001", 124)],
    ["a prefix of the path", (h) => h.write("../..", 345)],
  ])("with %s imports nothing", async (_, change) => {
    await tampering.expectRefused(
      tampering.withHeader(change),
      /is not a member that its manifest/,
    );
  });

  it("with an extra file at the end imports nothing", async () => {
    const { manifest, members } = tampering.parts();
    const extra = { name: "archives/extra.zip", bytes: Buffer.from("extra") };
    const bytes = putTogether({ manifest, members: [...members, extra] });
    await tampering.expectRefused(bytes, /expected \d+ bytes by its manifest/);
  });

  it("with an extra file that the manifest lists imports nothing", async () => {
    const { manifest, members } = tampering.parts();
    const bytes = Buffer.from("extra");
    const sha256 = digestOf(bytes);
    const extra = { name: `archives/${sha256}.zip`, bytes };
    manifest.archives.push({ sha256, size: bytes.length });
    manifest.archives.sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
    members.push(extra);
    await tampering.expectRefused(
      putTogether({ manifest, members }),
      /none of its releases speaks of/,
    );
  });

  it("with bytes after its end imports nothing", async () => {
    await tampering.expectRefused(
      Buffer.concat([tampering.good, Buffer.from("tail")]),
      /expected \d+ bytes by its manifest/,
    );
  });

  it("that does not begin with its manifest imports nothing", async () => {
    const { manifest, members } = tampering.parts();
    const [first] = members;
    if (first === undefined) throw new Error("no members");
    await tampering.expectRefused(
      Buffer.concat([tarEntry(first), putTogether({ manifest, members })]),
      /does not begin with manifest.json/,
    );
  });

  it("that is empty, or no tar at all, imports nothing", async () => {
    await tampering.expectRefused(Buffer.alloc(0), /does not begin with/);
    await tampering.expectRefused(
      Buffer.from("PK\x03\x04"),
      /does not begin with/,
    );
  });
});

describe("a bundle that is cut short", () => {
  it.each(Array.from({ length: 20 }, (_, index) => index))(
    "after %i twentieths imports nothing",
    async (twentieths) => {
      const end = Math.floor((tampering.good.length * twentieths) / 20);
      await tampering.expectRefused(
        tampering.good.subarray(0, end),
        /does not begin|cut short|bytes by its manifest/,
      );
    },
  );

  it("by one byte imports nothing", async () => {
    const bytes = tampering.good.subarray(0, tampering.good.length - 1);
    await tampering.expectRefused(bytes, /bytes by its manifest/);
  });
});

it("imports the bundle without tampering", async () => {
  const { status, said } = await tampering.import(
    putTogether(tampering.parts()),
  );
  expect(said).toContain("2 archives imported");
  expect(status).toBe(0);
});
