import { execFile, spawn } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import type { GitBackend } from "./registry.ts";
import { endingWithTests } from "../child-process.ts";

const run = promisify(execFile);

/** Repositories as folders below `root`, served by git's own CGI program. */
export function gitBackend(root: string): GitBackend {
  return async (request, response) => {
    const [path = "", query = ""] = (request.url ?? "").split("?");
    const child = spawn(...endingWithTests("git", ["http-backend"]), {
      env: {
        ...quiet,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: "1",
        PATH_INFO: path.replace(/^\/git/, ""),
        QUERY_STRING: query,
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
        GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      },
      stdio: ["pipe", "pipe", "inherit"],
    });
    request.pipe(child.stdin);
    await sendCgi(child.stdout, response);
  };
}

async function sendCgi(
  output: NodeJS.ReadableStream,
  response: ServerResponse,
): Promise<void> {
  const whole = await buffer(output);
  const end = whole.indexOf("\r\n\r\n");
  const lines = whole.toString("latin1", 0, end).split("\r\n");
  let status = 200;
  for (const line of lines) {
    const [name = "", value = ""] = line.split(/: (.*)/s);
    if (name === "Status") status = parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.writeHead(status).end(whole.subarray(end + 4));
}

/** Nothing of this machine's settings. */
const quiet = {
  PATH: process.env.PATH,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "Test",
  GIT_AUTHOR_EMAIL: "test@example.com",
  GIT_COMMITTER_NAME: "Test",
  GIT_COMMITTER_EMAIL: "test@example.com",
};

/** A repository on disk; `content` by path, where a link is `{ link: TARGET }` and a program `{ program: TEXT }`. */
export class GitRepository {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(folder: string): Promise<GitRepository> {
    await mkdir(folder, { recursive: true });
    const repository = new GitRepository(folder);
    await repository.git("init", "--quiet", "--initial-branch=main");
    return repository;
  }

  async git(...args: readonly string[]): Promise<string> {
    const options = { cwd: this.folder, env: quiet };
    return (await run("git", args, options)).stdout.trim();
  }

  /** Makes the next commit have a submodule there, by no other program than git itself. */
  async addSubmodule(path: string): Promise<void> {
    await mkdir(join(this.folder, path));
    const entry = `160000,${"a".repeat(40)},${path}`;
    await this.git("update-index", "--add", "--cacheinfo", entry);
  }

  /** Commits these files beside the earlier ones, and moves `tag` there; returns the commit. */
  async commit(
    content: Readonly<
      Record<string, string | { link: string } | { program: string }>
    >,
    tag?: string,
  ): Promise<string> {
    for (const [path, what] of Object.entries(content)) {
      const file = join(this.folder, path);
      await mkdir(dirname(file), { recursive: true });
      if (typeof what === "string") await writeFile(file, what);
      else if ("link" in what) await symlink(what.link, file);
      else await writeFile(file, what.program, { mode: 0o755 });
    }
    await this.git("add", "--all", "--force");
    await this.git("commit", "--quiet", "--allow-empty", "-m", "change");
    if (tag !== undefined) await this.git("tag", "--force", tag);
    return this.git("rev-parse", "HEAD");
  }
}
