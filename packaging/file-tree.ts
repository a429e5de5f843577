import {
  chmod,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { pack } from "./archives.ts";
import { formatLicenses } from "./licenses.ts";
import { makeManual } from "./manual.ts";
import { root } from "./project.ts";

/** The program with its Node, where the packages put it. */
export const programFolder = "usr/lib/provender";

/** Installed files, as they lie under the root of a machine or an image. */
export interface FileTree {
  readonly folder: string;
}

/** A tree with the program alone: its Node, its files, and its name on PATH. */
export async function makeProgramTree(
  folder: string,
  bundle: string,
): Promise<FileTree> {
  await rm(folder, { recursive: true, force: true });
  const program = join(folder, programFolder);
  await mkdir(program, { recursive: true });
  await cp(process.execPath, join(program, "node"), { dereference: true });
  await cp(bundle, join(program, "app"), { recursive: true });
  const main = join(program, "app/main.js");
  const text = await readFile(main, "utf8");
  await writeFile(main, text.replace(/^#!.*/, `#!/${programFolder}/node`));
  await mkdir(join(folder, "usr/bin"));
  await symlink(
    "../lib/provender/app/main.js",
    join(folder, "usr/bin/provender"),
  );
  return { folder };
}

/** Documents to install, and what they link to, at the same relative paths as here. */
const documents = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "LICENSE",
  "SECURITY.md",
  "config.example.yaml",
  "docs",
  "packaging/compose",
  "packaging/kustomize",
  "packaging/monitoring",
];

/** A tree with all that a .deb or .rpm installs. */
export async function makePackageTree(
  folder: string,
  bundle: string,
  packages: readonly string[],
): Promise<FileTree> {
  const tree = await makeProgramTree(folder, bundle);
  const write = async (path: string, text: string | Buffer) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  const read = (name: string) => readFile(join(root, name), "utf8");
  const place = "usr/share/doc/provender";
  await write("etc/provender/config.yaml", await read("packaging/config.yaml"));
  await write(
    "usr/lib/systemd/system/provender.service",
    withStaticUser(await read("systemd/provender.service")),
  );
  await write(`${place}/LICENSES`, await formatLicenses(packages));
  for (const name of documents)
    await cp(join(root, name), join(folder, place, name), { recursive: true });
  await write("usr/share/man/man1/provender.1.gz", pack(makeManual()));
  return tree;
}

/** The unit for a user that the package makes, so that commands of root can act as it. */
function withStaticUser(unit: string): string {
  const changes = [
    ["DynamicUser=yes\n", "User=provender\nGroup=provender\n"],
    [
      "# env finds what npm installed, in /usr/local/bin or /usr/bin.\nExecStart=/usr/bin/env provender serve\n",
      "ExecStart=/usr/bin/provender serve\n",
    ],
  ] as const;
  return changes.reduce((text, [before, after]) => {
    if (!text.includes(before))
      throw new Error(`systemd/provender.service has no ${before.trim()}.`);
    return text.replace(before, after);
  }, unit);
}

/** Files that are run, the loader of libraries among them, by name. */
const isProgram =
  /^(?:node|main\.js|postinst|prerm|postrm|ld-linux.*|.*\.so\.\d+)$/;

/** Modes of installed files, under any umask of the packing user. */
export async function setModes(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await setModes(path);
    else if (entry.isFile())
      await chmod(path, isProgram.test(entry.name) ? 0o755 : 0o644);
  }
}

/** Bytes of files. */
export async function measure(files: readonly string[]): Promise<number> {
  const found = await Promise.all(files.map((file) => lstat(file)));
  return found.reduce((sum, { size }) => sum + size, 0);
}

/** A template with @NAME@ replaced. */
export function fill(
  template: string,
  values: Readonly<Record<string, string>>,
): string {
  return template.replace(/@([A-Z_]+)@/g, (all, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`Nothing is known for ${all}.`);
    return value;
  });
}
