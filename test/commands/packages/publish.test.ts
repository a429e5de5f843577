import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { createSigner, defaultSigner } from "../../fakes/signing.ts";
import { runCommand } from "../../running-command.ts";
import { scratch } from "../../running-mirror.ts";
import {
  filesOf,
  folderHost,
  makeDist,
  makeOriginFolder,
  writeFiles,
} from "../../scenes/origin-folder.ts";
import { expectDocument } from "../documents.ts";
import { makeStorage } from "../storage.ts";

type Files = Record<string, Uint8Array | string>;

const sums = "terraform-provider-widget_1.0.0_SHA256SUMS";
const zip = "terraform-provider-widget_1.0.0_linux_amd64.zip";
const manifest = "terraform-provider-widget_1.0.0_manifest.json";

let root: string;
let dist: Files;

beforeAll(async () => {
  root = makeOriginFolder(await defaultSigner());
  dist = filesOf(await makeDist({ version: "1.0.0", size: 3000 }));
});

async function publish(files: Files, ...args: readonly string[]) {
  // Beside what is released goreleaser leaves more.
  const more = { "artifacts.json": "[]", "config.yaml": "" };
  const from = writeFiles(join(scratch("dist"), "dist"), { ...files, ...more });
  const run = await runCommand([
    "publish",
    from,
    "--to",
    root,
    "--json",
    ...args,
  ]);
  return { ...run, said: expectDocument("publish", run.stdout) };
}

/** All paths below the folder. */
function listRoot(): readonly string[] {
  return readdirSync(root, { recursive: true }).map(String).toSorted();
}

function without(name: string): Files {
  return Object.fromEntries(
    Object.entries(dist).filter(([one]) => one !== name),
  );
}

describe("publish", () => {
  it.each<[string, () => Files | Promise<Files>, string]>([
    [
      "no SHA256SUMS",
      () => without(sums),
      "expected one terraform-provider-TYPE_VERSION_SHA256SUMS, got 0",
    ],
    [
      "two releases",
      async () => ({
        ...dist,
        ...filesOf(await makeDist({ version: "1.1.0" })),
      }),
      "got 2",
    ],
    ["no signature", () => without(`${sums}.sig`), `it has no ${sums}.sig`],
    ["a missing archive", () => without(zip), `it has no ${zip} yet`],
    ["another archive", () => ({ ...dist, [zip]: Buffer.alloc(3000) }), zip],
    [
      "another manifest",
      () => ({
        ...dist,
        [manifest]: '{"version":1,"metadata":{"protocol_versions":["5.0"]}}',
      }),
      manifest,
    ],
    [
      "a malformed manifest",
      () => ({ ...dist, [manifest]: "{}" }),
      "it is no manifest",
    ],
    [
      "an edited SHA256SUMS",
      () => ({
        ...dist,
        [sums]: `${String(dist[sums])}${"0".repeat(64)}  more.txt\n`,
      }),
      "signature",
    ],
    [
      "a stranger's signature",
      async () => {
        const stranger = await createSigner();
        return {
          ...dist,
          [`${sums}.sig`]: await stranger.sign(Buffer.from(String(dist[sums]))),
        };
      },
      "key",
    ],
    [
      "names of another release",
      () =>
        Object.fromEntries(
          Object.entries(dist).map(([name, bytes]) => [
            name.replace("1.0.0", "1.0.1"),
            bytes,
          ]),
        ),
      "lists no archive",
    ],
  ])("refuses %s and leaves nothing", async (_, make, reason) => {
    const before = listRoot();
    const { status, stderr, said } = await publish(await make());
    expect(stderr).toContain(reason);
    expect(status).toBe(1);
    expect(said).toMatchObject({ releases: [], problems: [{}] });
    expect(listRoot()).toEqual(before);
  });

  it("refuses a namespace without keys, and asks for the namespace where it cannot tell it", async () => {
    const other = scratch("providers");
    mkdirSync(join(other, "acme"));
    const from = writeFiles(scratch("dist"), dist);
    const args = ["publish", from, "--to", other];
    const unnamed = await runCommand(args);
    expect(unnamed).toMatchObject({ status: 2 });
    expect(unnamed.stderr).toContain("--namespace NAMESPACE");
    const named = await runCommand([...args, "--namespace", "acme"]);
    expect(named).toMatchObject({ status: 1 });
    expect(readdirSync(join(other, "acme"))).toEqual([]);
    const odd = await runCommand([...args, "--namespace", "../acme"]);
    expect(odd).toMatchObject({ status: 2 });
  });

  it("takes a release without keys where the origin of that folder does without signatures", async () => {
    const other = scratch("providers");
    mkdirSync(join(other, "acme"));
    const origin = { directory: other, signatures: "when-published" };
    const { configFile } = makeStorage({ origins: { [folderHost]: origin } });
    const from = writeFiles(scratch("dist"), without(`${sums}.sig`));
    const run = await runCommand([
      ...["publish", from, "--to", other, "--namespace", "acme"],
      ...["--config", configFile],
    ]);
    expect(run).toMatchObject({ status: 0 });
  });

  it("puts a good release in its place, once", async () => {
    const { status, said, stderr } = await publish(dist);
    expect(stderr).toContain("is published");
    expect(status).toBe(0);
    const path = join(root, "acme", "widget", "1.0.0");
    const release = {
      provider: "acme/widget",
      version: "1.0.0",
      platforms: ["linux_amd64"],
      path,
    };
    expect(said).toMatchObject({
      releases: [{ ...release, outcome: "published" }],
    });
    expect(readdirSync(path)).toEqual(Object.keys(dist).toSorted());
    expect(
      readFileSync(join(path, zip)).equals(Buffer.from(dist[zip] ?? "")),
    ).toBe(true);

    const before = listRoot();
    expect((await publish(dist)).said).toMatchObject({
      releases: [{ outcome: "present" }],
    });
    const other = filesOf(await makeDist({ version: "1.0.0", seed: 2 }));
    const refused = await publish(other);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("is there with other content");
    expect(listRoot()).toEqual(before);
  });
});
