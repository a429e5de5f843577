import { createHash } from "node:crypto";
import { cp, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pack, writeTar } from "./archives.ts";
import { setModes, type FileTree } from "./file-tree.ts";
import { root, run, type Source } from "./project.ts";

/** Uid of the image's user, who owns only the store. */
export const imageUser = 10001;

/** Command of a container; a shell in the image finds it on PATH, too. */
const entrypoint = ["/usr/bin/provender"];

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/**
 * Writes provender-VERSION-image.tar, an OCI image archive (image-spec 1.1) of
 * one layer, and returns its name. The layer has the program, its Node, the
 * libraries that Node needs, and nothing else; `folder` is for work on the way.
 */
export async function writeImage(
  source: Source,
  program: FileTree,
  folder: string,
  release: string,
): Promise<string> {
  const tree = join(folder, "root");
  await cp(program.folder, tree, { recursive: true, verbatimSymlinks: true });
  await addMachine(tree);
  await setModes(tree);
  const layer = join(folder, "layer.tar");
  await writeLayer(tree, layer, source);
  const layout = join(folder, "layout");
  await writeLayout(layout, await readFile(layer), source);
  await setModes(layout);
  const name = `provender-${source.version}-image.tar`;
  await writeTar(layout, join(release, name), source);
  await rm(folder, { recursive: true });
  return name;
}

/** Adds the libraries, users and host names that a program expects of a machine. */
async function addMachine(tree: string): Promise<void> {
  for (const { name, file } of await listLibraries()) {
    await mkdir(dirname(join(tree, name)), { recursive: true });
    await cp(file, join(tree, name));
  }
  const image = join(root, "packaging/image");
  await cp(image, join(tree, "etc"), { recursive: true });
  for (const made of ["etc/ssl/certs", "proc", "tmp", "var/lib/provender"])
    await mkdir(join(tree, made), { recursive: true });
}

/** A shared library by the path that the loader takes, and the file that it is on this machine. */
export interface Library {
  readonly name: string;
  readonly file: string;
}

/** The libraries that Node is linked with, and those that the C library loads when names are resolved. */
export async function listLibraries(): Promise<readonly Library[]> {
  const linked = await run("ldd", [process.execPath]);
  const paths = [...linked.matchAll(/(?:^|=> ?)\s*(\/\S+) \(/gm)].map(
    ([, path = ""]) => path,
  );
  return Promise.all(
    paths.sort().map(async (path) => ({
      name: path.startsWith("/lib64/") ? path : join("/lib", basename(path)),
      file: await realpath(path),
    })),
  );
}

/** The store belongs to the user of the image, all else to root. */
async function writeLayer(
  tree: string,
  file: string,
  source: Source,
): Promise<void> {
  const top = ["etc", "lib", "lib64", "proc", "tmp", "usr", "var/lib"];
  await run("chmod", ["1777", join(tree, "tmp")]);
  await run("chmod", ["700", join(tree, "var/lib/provender")]);
  await writeTar(tree, file, source, ["--exclude=var/lib/provender", ...top]);
  await run("tar", [
    "--append",
    `--file=${file}`,
    `--directory=${tree}`,
    "--format=gnu",
    `--mtime=@${source.epoch}`,
    `--owner=${imageUser}`,
    `--group=${imageUser}`,
    "--numeric-owner",
    "var/lib/provender",
  ]);
}

async function writeLayout(
  layout: string,
  layer: Buffer,
  source: Source,
): Promise<void> {
  const blobs = join(layout, "blobs/sha256");
  await mkdir(blobs, { recursive: true });
  const add = async (mediaType: string, content: Buffer): Promise<Blob> => {
    const hash = digest(content);
    await writeFile(join(blobs, hash), content);
    return { mediaType, digest: `sha256:${hash}`, size: content.length };
  };
  const type = (name: string) => `application/vnd.oci.image.${name}`;
  const json = (value: unknown) => Buffer.from(JSON.stringify(value));
  const manifest = {
    schemaVersion: 2,
    mediaType: type("manifest.v1+json"),
    config: await add(
      type("config.v1+json"),
      json(describe(source, `sha256:${digest(layer)}`)),
    ),
    layers: [await add(type("layer.v1.tar+gzip"), pack(layer, source.level))],
  };
  const entry = {
    ...(await add(manifest.mediaType, json(manifest))),
    annotations: { "org.opencontainers.image.ref.name": source.version },
  };
  const index = { schemaVersion: 2, mediaType: type("index.v1+json") };
  const text = json({ ...index, manifests: [entry] });
  await writeFile(join(layout, "index.json"), text);
  await writeFile(join(layout, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
}

function digest(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The image's configuration; `layer` is the digest of the layer before compression. */
function describe({ version, commit, epoch }: Source, layer: string) {
  const created = new Date(epoch * 1000).toISOString();
  return {
    created,
    architecture: "amd64",
    os: "linux",
    config: {
      User: `${imageUser}:${imageUser}`,
      ExposedPorts: { "8443/tcp": {} },
      Env: [
        "PATH=/usr/bin",
        "HOME=/var/lib/provender",
        "NODE_OPTIONS=--max-semi-space-size=2",
        "NODE_PRESERVE_SYMLINKS=1",
        "MALLOC_MMAP_THRESHOLD_=131072",
        "MALLOC_TRIM_THRESHOLD_=131072",
        "MALLOC_ARENA_MAX=2",
      ],
      Entrypoint: entrypoint,
      Cmd: ["serve"],
      WorkingDir: "/",
      StopSignal: "SIGTERM",
      Volumes: { "/var/lib/provender": {} },
      Labels: {
        "org.opencontainers.image.title": "provender",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.revision": commit,
        "org.opencontainers.image.licenses": "Apache-2.0",
      },
    },
    rootfs: { type: "layers", diff_ids: [layer] },
    history: [{ created, created_by: "npm run package" }],
  };
}
