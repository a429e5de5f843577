import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { watch } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { defaultSigner } from "../../fakes/signing.ts";
import { runCommand } from "../../running-command.ts";
import { scratch } from "../../running-mirror.ts";
import {
  filesOf,
  makeDist,
  makeOriginFolder,
  writeFiles,
} from "../../scenes/origin-folder.ts";
import { expectDocument } from "../documents.ts";

const sums = "terraform-provider-widget_1.0.0_SHA256SUMS";
const zip = "terraform-provider-widget_1.0.0_linux_amd64.zip";
const privateKey =
  "-----BEGIN PGP PRIVATE KEY BLOCK-----\n-----END PGP PRIVATE KEY BLOCK-----\n";

let dist: Record<string, Uint8Array | string>;
let publicKey: string;

beforeAll(async () => {
  publicKey = (await defaultSigner()).armoredPublicKey;
  dist = filesOf(await makeDist({ version: "1.0.0", size: 3000 }));
});

function replaceByPipe(path: string): void {
  rmSync(path);
  execFileSync("mkfifo", [path]);
}

async function expectRefusal(args: readonly string[], reason: string) {
  const { status, stdout, stderr } = await runCommand([...args, "--json"]);
  expect(stderr).toContain(reason);
  expect(status).toBe(1);
  expect(expectDocument("publish", stdout)).toMatchObject({
    releases: [],
    problems: [{}],
  });
}

describe("publish", () => {
  it.each<[string, (folder: string) => void, string]>([
    [
      "a pipe for a signature",
      (from) => replaceByPipe(join(from, `${sums}.sig`)),
      "it is not a file",
    ],
    [
      "a folder for a signature",
      (from) => {
        rmSync(join(from, `${sums}.sig`));
        mkdirSync(join(from, `${sums}.sig`));
      },
      "it is not a file",
    ],
    [
      "a pipe for an archive",
      (from) => replaceByPipe(join(from, zip)),
      "it is not a file",
    ],
    [
      "an archive that the mirror would not fetch",
      (from) => truncateSync(join(from, zip), 1e10),
      "has more than",
    ],
    [
      "a signature without end",
      (from) => truncateSync(join(from, `${sums}.sig`), 1e10),
      "has more than",
    ],
  ])("refuses %s and leaves nothing", async (_, edit, reason) => {
    const to = makeOriginFolder(await defaultSigner());
    const from = writeFiles(join(scratch("dist"), "dist"), dist);
    edit(from);
    await expectRefusal(["publish", from, "--to", to], reason);
    expect(readdirSync(join(to, "acme"))).toEqual(["keys"]);
  });

  it.each<[string, (keys: string) => void, string]>([
    [
      "a private key",
      (keys) => writeFileSync(join(keys, "b.asc"), privateKey),
      "it has a private key",
    ],
    [
      "a note",
      (keys) => writeFileSync(join(keys, "b.asc"), "who may sign"),
      "it has no armored public key",
    ],
    ["a folder", (keys) => mkdirSync(join(keys, "b.asc")), "it is not a file"],
    [
      "a link that leads nowhere but to itself",
      (keys) => symlinkSync("b.asc", join(keys, "b.asc")),
      "it cannot be read (ELOOP)",
    ],
    [
      "keys without end",
      (keys) => {
        for (let each = 0; each < 200; each += 1)
          writeFileSync(
            join(keys, `${each}.asc`),
            `${publicKey}${"\n".repeat(20_000)}`,
          );
      },
      "its keys have more than",
    ],
  ])("refuses to publish beside %s", async (_, edit, reason) => {
    const to = makeOriginFolder(await defaultSigner());
    edit(join(to, "acme", "keys"));
    const from = writeFiles(scratch("dist"), dist);
    await expectRefusal(["publish", from, "--to", to], reason);
  });

  it.each<[string, (path: string) => void, string]>([
    [
      "a half of it",
      (path) => {
        writeFiles(path, dist);
        rmSync(join(path, zip));
      },
      `has no ${zip}`,
    ],
    [
      "a cut archive of it",
      (path) => writeFiles(path, { ...dist, [zip]: "cut" }),
      "expected SHA-256",
    ],
    [
      "a cut signature of it",
      (path) => writeFiles(path, { ...dist, [`${sums}.sig`]: "cut" }),
      "signature",
    ],
    [
      "a file",
      (path) => {
        mkdirSync(dirname(path));
        writeFileSync(path, "");
      },
      "not a directory",
    ],
    [
      "a link out of the folder",
      (path) => symlinkSync(scratch("outside"), dirname(path)),
      "leads out of the folder",
    ],
  ])(
    "says nothing is published where %s has the place",
    async (_, put, reason) => {
      const to = makeOriginFolder(await defaultSigner());
      put(join(to, "acme", "widget", "1.0.0"));
      const from = writeFiles(scratch("dist"), dist);
      await expectRefusal(["publish", from, "--to", to], reason);
    },
  );

  it("is readable by the daemon under any umask, and takes away what killed runs left there", async () => {
    const to = makeOriginFolder(await defaultSigner());
    const [old, young] = ["old", "young"].map((id) =>
      writeFiles(join(to, "acme", `.1.0.0.${id}.partial`), { [zip]: "" }),
    );
    utimesSync(old ?? "", 0, 0);
    const from = writeFiles(scratch("dist"), dist);
    const umask = process.umask(0o077);
    const run = runCommand(["publish", from, "--to", to]);
    process.umask(umask);
    expect(await run).toMatchObject({ status: 0 });
    expect([old, young].map((one) => existsSync(one ?? ""))).toEqual([
      false,
      true,
    ]);
    for (const path of ["widget", "widget/1.0.0"])
      expect(statSync(join(to, "acme", path)).mode & 0o777).toBe(0o755);
  });

  it("leaves nothing when it is interrupted", async () => {
    const to = makeOriginFolder(await defaultSigner());
    const large = await makeDist({ version: "1.0.0", size: 50_000_000 });
    const from = writeFiles(scratch("dist"), filesOf(large));
    const watching = new AbortController();
    const changes = watch(join(to, "acme"), watching);
    const begun = changes[Symbol.asyncIterator]().next();
    const run = await runCommand(["publish", from, "--to", to], {
      interruptAfter: begun,
    });
    watching.abort();
    expect(run).toMatchObject({ status: 1 });
    expect(run.stderr).toContain("interrupted");
    expect(readdirSync(join(to, "acme"))).toEqual(["keys"]);
  });
});
