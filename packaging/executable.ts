import { chmod, copyFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { listFiles, root, run, type Source } from "./project.ts";

const start = join(root, "packaging/executable-start.cjs");
/** Sentinel that Node looks for in itself: its documentation, "Single executable applications". */
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** Writes provender-VERSION-linux-x64, which needs the libraries of C and C++ alone, and returns its name. */
export async function writeExecutable(
  { version }: Source,
  bundle: string,
  folder: string,
  release: string,
): Promise<string> {
  const files = [...(await listFiles(bundle)), start];
  const settings = join(folder, "executable.json");
  const blob = join(folder, "executable.blob");
  const assets = files.map((file) => [basename(file), file]);
  await writeFile(
    settings,
    JSON.stringify({
      main: start,
      output: blob,
      disableExperimentalSEAWarning: true,
      assets: Object.fromEntries(assets) as unknown,
    }),
  );
  await run(process.execPath, ["--experimental-sea-config", settings]);
  const name = `provender-${version}-linux-x64`;
  const file = join(release, name);
  await copyFile(process.execPath, file);
  await chmod(file, 0o755);
  const postject = join(root, "node_modules/postject/dist/cli.js");
  const into = [file, "NODE_SEA_BLOB", blob, "--sentinel-fuse", fuse];
  await run(process.execPath, [postject, ...into]);
  return name;
}
