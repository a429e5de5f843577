import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { basename, join, relative } from "node:path";
import { build as bundle, type Metafile, type Plugin } from "esbuild";
import { listFiles, root } from "./project.ts";

/** The program's bundled files, flat in one folder, and the packages they came from. */
export interface Bundle {
  readonly folder: string;
  /** Folders of node_modules, such as "node_modules/koa". */
  readonly packages: readonly string[];
}

/**
 * Writes the program into `folder` as ES modules without dependencies. All of
 * them are in that one folder: what a source file finds beside itself by
 * `import.meta.url` is found there under the same name.
 */
export async function writeBundle(
  folder: string,
  version: string,
): Promise<Bundle> {
  await rm(folder, { recursive: true, force: true });
  const main = { in: join(root, "src/main.ts"), out: "main" };
  // A thread shares nothing with the program; parts that both had would be more, smaller files to look up at the start.
  const made = [
    // Short names: V8 loads its second compiler, 5 MiB, for long paths of many modules.
    await writeModules(folder, version, [main], "[hash]"),
    await writeModules(folder, version, await listThreads(), "thread-[hash]"),
  ];
  await writeFile(join(folder, "package.json"), '{"type":"module"}\n');
  return { folder, packages: [...new Set(made.flatMap(listPackages))].sort() };
}

async function writeModules(
  folder: string,
  version: string,
  entryPoints: EntryPoint[],
  chunkNames: string,
): Promise<Metafile> {
  const { metafile, outputFiles } = await bundle({
    absWorkingDir: root,
    entryPoints,
    outdir: folder,
    entryNames: "[name]",
    chunkNames,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    // A CommonJS package that is loaded when needed would lose its names.
    mainFields: ["module", "main"],
    // Names stay, so that a stack trace can be read.
    minifySyntax: true,
    minifyWhitespace: true,
    charset: "ascii",
    loader: { ".gz": "binary" },
    // Niceness of threads, which is never set; and a global that every Node has.
    external: ["@napi-rs/nice", "performance"],
    legalComments: "none",
    // Without it, undici brings a second parser of HTTP.
    define: { esbuildDetection: "true" },
    plugins: [onlyOneFolder(version)],
    metafile: true,
    write: false,
    logLevel: "warning",
  });
  expectNames(metafile);
  await mkdir(folder, { recursive: true });
  for (const { path, text } of outputFiles)
    await writeFile(path, withCommonJsNames(text), {
      mode: text.startsWith("#!") ? 0o755 : 0o644,
    });
  return metafile;
}

/** CommonJS packages expect these; in a module they are not there. */
const commonJsNames = {
  require:
    'import{createRequire as createRequire_}from"node:module";const require=createRequire_(import.meta.url);',
  __filename: "const __filename=import.meta.filename;",
  __dirname: "const __dirname=import.meta.dirname;",
};

/** With those that are used: to make one takes a part of the start, and there are more than a hundred modules. */
function withCommonJsNames(text: string): string {
  const [, start = "", rest = ""] = /^(#!.*\n)?([^]*)$/.exec(text) ?? [];
  const used = Object.entries(commonJsNames).filter(([name]) =>
    new RegExp(`\\b${name}\\b`).test(rest),
  );
  return `${start}${used.map(([, code]) => code).join("")}${rest}`;
}

interface EntryPoint {
  readonly in: string;
  readonly out: string;
}

/** Lists the modules that threads load by their file name. */
async function listThreads(): Promise<EntryPoint[]> {
  const files = await listFiles(join(root, "src"));
  const loaded = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(file, "utf8");
      return /^export default /m.test(text);
    }),
  );
  const found = files.filter((_, index) => loaded[index]);
  const own = found.map((file) => ({
    in: file,
    out: basename(file, ".ts"),
  }));
  expectDistinct(own.map(({ out }) => out));
  const threads = join(root, "node_modules/piscina/dist/worker.js");
  return [...own, { in: threads, out: "worker" }];
}

function expectDistinct(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new Error(`Two modules that are loaded by name are called ${twice}.`);
}

/** Throws for a package that is loaded when needed and has no ES module: of what it exports only "default" is left. */
function expectNames({ inputs }: Metafile): void {
  const loaded = Object.values(inputs).flatMap(({ imports }) =>
    imports.filter(({ kind }) => kind === "dynamic-import"),
  );
  const bad = loaded.find(
    ({ path }) =>
      inputs[path]?.format === "cjs" && !path.includes(loadedForEffect),
  );
  if (bad !== undefined)
    throw new Error(`${bad.path} is loaded by import() and is CommonJS.`);
}

const loadedForEffect = "/reflect-metadata/";

/** Code of packages, by their files, and what the bundle has in its place. */
const replaced: readonly (readonly [RegExp, string, string])[] = [
  // A package that is looked for when it is run, where a bundle has none.
  [
    /\/openpgp\/dist\/node\/openpgp\.mjs$/,
    "util.nodeRequire('eckey-utils')",
    'require("eckey-utils")',
  ],
  [
    /\/hcl2json\/build\/bridge\.js$/,
    'await fs.readFile((0, path_1.join)(__dirname, "..", "main.wasm.gz"))',
    'require("../main.wasm.gz")',
  ],
  // HTTP/2 is spoken by `doctor --mirror` alone: the daemon is spared its memory.
  [
    /\/undici\/lib\/dispatcher\/client\.js$/,
    "const connectH2 = require('./client-h2.js')",
    "const connectH2 = (...all) => require('./client-h2.js')(...all)",
  ],
];

/** Modules that packages load at once for what the program never does: metrics of a cluster, pushed ones, and traces. */
const neverRun = [
  /\/prom-client\/lib\/(?:cluster|pushgateway)\.js$/,
  /\/@opentelemetry\/api\/.*\/index\.cjs$/,
];

/** Of two thousand media types, those that answers have. */
const servedTypes = [
  "application/json",
  "application/octet-stream",
  "application/problem+json",
  "application/zip",
  "application/gzip",
  "text/html",
  "text/plain",
  "text/css",
  "text/javascript",
  "image/svg+xml",
];

function onlyOneFolder(version: string): Plugin {
  return {
    name: "only-one-folder",
    setup(build) {
      build.onResolve({ filter: /^(?:node:)?[a-z]/ }, (asked) => {
        const { path, namespace, kind } = asked;
        if (!isBuiltin(path)) return undefined;
        // A dynamic import keeps the module's own export names.
        return namespace === "builtin" || kind === "dynamic-import"
          ? { path, external: true }
          : { path, namespace: "builtin" };
      });
      build.onLoad({ filter: /^/, namespace: "builtin" }, ({ path }) => ({
        contents: `module.exports = require(${JSON.stringify(path)});`,
      }));
      build.onResolve({ filter: /^undici$/ }, () => ({
        path: join(import.meta.dirname, "undici.cjs"),
      }));
      build.onLoad({ filter: /\/src\/commands\/version\.ts$/ }, () => ({
        contents: `export const version = ${JSON.stringify(version)};`,
        loader: "ts",
      }));
      build.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => ({
        contents: inOneFolder(path, await readFile(path, "utf8")),
        loader: "ts",
      }));
      for (const filter of neverRun)
        build.onLoad({ filter }, () => ({ contents: "" }));
      // Two versions of a list of all media types.
      build.onResolve({ filter: /^mime-db$/ }, () => ({
        path: join(root, "node_modules/mime-db/index.js"),
      }));
      build.onLoad({ filter: /\/mime-db\/db\.json$/ }, async ({ path }) => {
        const all = JSON.parse(await readFile(path, "utf8")) as object;
        const served = Object.entries(all).filter(([type]) =>
          servedTypes.includes(type),
        );
        return {
          contents: JSON.stringify(Object.fromEntries(served)),
          loader: "json",
        };
      });
      // Messages in forty languages, of which one is shown.
      build.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
        contents: 'export { default as en } from "./en.js";',
        resolveDir: join(root, "node_modules/zod/v4/locales"),
      }));
      for (const [filter, own, ours] of replaced)
        build.onLoad({ filter }, async ({ path }) => {
          const text = await readFile(path, "utf8");
          if (!text.includes(own)) throw new Error(`${path} has no ${own}`);
          return { contents: text.replaceAll(own, ours) };
        });
    },
  };
}

/** Packages that are loaded when needed are bundled too: esbuild follows a `require` that is not declared. */
function inOneFolder(path: string, text: string): string {
  return text
    .replace(/^ *const require = createRequire\(import\.meta\.url\);$/m, "")
    .replaceAll(
      "import.meta.url",
      `new URL(${JSON.stringify(`./${basename(path, ".ts")}.js`)}, import.meta.url).href`,
    );
}

/** The folders of the packages that something of is in the bundle. */
function listPackages({ inputs, outputs }: Metafile): readonly string[] {
  const used = Object.values(outputs).flatMap((output) =>
    Object.keys(output.inputs),
  );
  const folders = used.flatMap((file) => {
    const isKnown = file in inputs;
    const [folder] =
      /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file) ?? [];
    return isKnown && folder !== undefined ? [relative(".", folder)] : [];
  });
  return folders;
}
