import type { IncomingMessage, ServerResponse } from "node:http";
import type { Authority } from "./authority.ts";
import { startListener, type Listener } from "./listener.ts";

/** Answers what is below `/git/`. */
export type GitBackend = (
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<void>;

export interface ModuleRequest {
  readonly path: string;
  readonly authorization: string | undefined;
}

export interface ModuleRegistryOptions {
  readonly authority: Authority;
  readonly git?: GitBackend | undefined;
}

/** An origin over HTTPS that speaks `modules.v1`, and has files and git repositories. */
export class FakeModuleRegistry {
  readonly requests: ModuleRequest[] = [];
  /** Instead of everything, while it is set: the status of each answer. */
  failing: number | undefined;
  readonly #locations = new Map<string, string>();
  readonly #files = new Map<string, Buffer>();
  readonly #documents = new Map<string, string>();
  readonly #redirects = new Map<string, string>();
  readonly #git: GitBackend | undefined;
  readonly #listener: Listener;

  private constructor(listener: Listener, git: GitBackend | undefined) {
    this.#listener = listener;
    this.#git = git;
  }

  static async start({
    authority,
    git,
  }: ModuleRegistryOptions): Promise<FakeModuleRegistry> {
    const certificate = await authority.issue(["127.0.0.1", "localhost"]);
    const where = { host: "127.0.0.1", port: 0 };
    const listener = await startListener(certificate, where, (req, res) => {
      void registry.#answer(req, res);
    });
    const registry = new FakeModuleRegistry(listener, git);
    return registry;
  }

  /** `https://HOST:PORT/`. */
  get url(): string {
    return `https://127.0.0.1:${this.#listener.port}/`;
  }

  /** The base of `modules.v1`, for a `host` block. */
  get modulesUrl(): string {
    return `${this.url}v1/modules/`;
  }

  /** Lists a version of `NAMESPACE/NAME/SYSTEM`, and says where it is. */
  publish(module: string, version: string, location: string): void {
    this.#locations.set(`${module}/${version}`, location);
  }

  withdraw(module: string, version: string): void {
    this.#locations.delete(`${module}/${version}`);
  }

  /** Returns the URL. */
  serve(path: string, bytes: Buffer): string {
    this.#files.set(path, bytes);
    return `${this.url}${path.slice(1)}`;
  }

  /** Answers a path with JSON, for any query. */
  answer(path: string, value: unknown): void {
    this.#documents.set(path, JSON.stringify(value));
  }

  redirect(path: string, to: string): string {
    this.#redirects.set(path, to);
    return `${this.url}${path.slice(1)}`;
  }

  /** Counts the requests whose path contains `text`. */
  count(text: string): number {
    return this.requests.filter(({ path }) => path.includes(text)).length;
  }

  stop(): Promise<void> {
    return this.#listener.stop();
  }

  restart(): Promise<void> {
    return this.#listener.restart();
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { url: path = "/", headers } = req;
    this.requests.push({ path, authorization: headers.authorization });
    const [name = ""] = path.split("?");
    const to = this.#redirects.get(name);
    const file = this.#files.get(name);
    if (this.failing !== undefined) end(res, this.failing);
    else if (to !== undefined) end(res, 302, { Location: to });
    else if (file !== undefined)
      end(res, 200, { "Content-Type": "application/octet-stream" }, file);
    else if (name.startsWith("/git/") && this.#git !== undefined)
      await this.#git(req, res).catch(() => res.destroy());
    else this.#answerRegistry(name, res);
  }

  #answerRegistry(path: string, res: ServerResponse): void {
    const json = { "Content-Type": "application/json" };
    const document = this.#documents.get(path);
    if (document !== undefined) {
      end(res, 200, json, document);
      return;
    }
    const [, module = "", rest = ""] =
      /^\/v1\/modules\/([^/]+\/[^/]+\/[^/]+)\/(.+)$/.exec(path) ?? [];
    if (path === "/.well-known/terraform.json")
      end(res, 200, json, JSON.stringify({ "modules.v1": "/v1/modules/" }));
    else if (rest === "versions" && this.#versionsOf(module).length > 0) {
      const versions = this.#versionsOf(module);
      end(res, 200, json, JSON.stringify({ modules: [{ versions }] }));
    } else {
      const version = rest.replace(/\/download$/, "");
      const location = this.#locations.get(`${module}/${version}`);
      if (location === undefined) end(res, 404, json, "{}");
      else end(res, 204, { "X-Terraform-Get": location });
    }
  }

  #versionsOf(module: string): readonly { readonly version: string }[] {
    return [...this.#locations.keys()]
      .filter((key) => key.startsWith(`${module}/`))
      .map((key) => ({ version: key.slice(module.length + 1) }));
  }
}

function end(
  res: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: string | Buffer = "",
): void {
  const length =
    status === 204 ? {} : { "Content-Length": Buffer.byteLength(body) };
  res.writeHead(status, { ...headers, ...length }).end(body);
}
