import type {
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from "node:http";
import type { Authority } from "./authority.ts";
import { startListener, type Listener } from "./listener.ts";

/** Answers what is below `/git/`. */
export type GitBackend = (
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<void>;

type Answer = readonly [number, OutgoingHttpHeaders?, (string | Buffer)?];

const json = { "Content-Type": "application/json" };

/** An origin over HTTPS that speaks `modules.v1`, and has files and git repositories. */
export class FakeModuleRegistry {
  readonly requests: {
    readonly path: string;
    readonly authorization: string | undefined;
  }[] = [];
  readonly #locations = new Map<string, string>();
  readonly #answers = new Map<string, Answer>();
  readonly #git: GitBackend | undefined;
  readonly #listener: Listener;

  private constructor(listener: Listener, git: GitBackend | undefined) {
    this.#listener = listener;
    this.#git = git;
    const services = JSON.stringify({ "modules.v1": "/v1/modules/" });
    this.#answers.set("/.well-known/terraform.json", [200, json, services]);
  }

  static async start({
    authority,
    git,
  }: {
    readonly authority: Authority;
    readonly git?: GitBackend | undefined;
  }): Promise<FakeModuleRegistry> {
    const certificate = await authority.issue(["127.0.0.1", "localhost"]);
    const listener = await startListener(
      certificate,
      (...asked) => void registry.#answer(...asked),
    );
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

  /** Returns the URL. */
  serve(path: string, bytes: Buffer): string {
    const type = { "Content-Type": "application/octet-stream" };
    this.#answers.set(path, [200, type, bytes]);
    return `${this.url}${path.slice(1)}`;
  }

  /** Answers a path with JSON, for any query. */
  answer(path: string, value: unknown): void {
    this.#answers.set(path, [200, json, JSON.stringify(value)]);
  }

  redirect(path: string, to: string): string {
    this.#answers.set(path, [302, { Location: to }]);
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
    const known = this.#answers.get(name);
    if (known === undefined && this.#git && name.startsWith("/git/"))
      return this.#git(req, res).catch(() => void res.destroy());
    const [status, more, body = ""] = known ?? this.#answerRegistry(name);
    const length = { "Content-Length": Buffer.byteLength(body) };
    res.writeHead(status, { ...more, ...(status !== 204 && length) }).end(body);
  }

  #answerRegistry(path: string): Answer {
    const [, module = "", rest = ""] =
      /^\/v1\/modules\/([^/]+\/[^/]+\/[^/]+)\/(.+)$/.exec(path) ?? [];
    const versions = [...this.#locations.keys()]
      .filter((key) => key.startsWith(`${module}/`))
      .map((key) => ({ version: key.slice(module.length + 1) }));
    if (rest === "versions" && versions.length > 0)
      return [200, json, JSON.stringify({ modules: [{ versions }] })];
    const version = rest.replace(/\/download$/, "");
    const location = this.#locations.get(`${module}/${version}`);
    return location === undefined
      ? [404, json, "{}"]
      : [204, { "X-Terraform-Get": location }];
  }
}
