import type { Authority } from "../../fakes/authority.ts";
import { startListener, type Listener } from "../../fakes/listener.ts";
import { jsonReply, reply, sendReply, type Reply } from "../../fakes/reply.ts";
import { archiveBytes, type SignedText } from "../world/documents.ts";
import type { FaultPlace, Offer, Registry } from "../world/registry.ts";
import { namespace } from "../world/settings.ts";
import type { RealKeys } from "./real-keys.ts";

const host = "127.0.0.1";
const notFound = jsonReply(404, { errors: ["Not Found"] });

/** Undefined: the connection is cut. */
type Answered = Reply | undefined;

/** The registry of a sequence as mirrors ask it: over TLS, with real signatures and archives. */
export class RegistryServer {
  readonly #registry: Registry;
  readonly #keys: RealKeys;
  /** Documents that look-ups named. */
  readonly #named = new Map<string, SignedText>();
  #listener: Listener | undefined;

  private constructor(registry: Registry, keys: RealKeys) {
    this.#registry = registry;
    this.#keys = keys;
  }

  static async start(
    registry: Registry,
    keys: RealKeys,
    authority: Authority,
  ): Promise<RegistryServer> {
    const server = new RegistryServer(registry, keys);
    const certificate = await authority.issue([host]);
    server.#listener = await startListener(
      certificate,
      { host, port: 0 },
      (request, response) => {
        void server.#answer(request.url ?? "/").then((answer) => {
          if (answer === undefined) response.destroy();
          else void sendReply(answer, response, () => undefined);
        });
      },
    );
    return server;
  }

  get url(): string {
    return `https://${host}:${this.#listener?.port}/`;
  }

  async stop(): Promise<void> {
    await this.#listener?.stop();
  }

  async #answer(path: string): Promise<Answered> {
    if (this.#registry.isDown) return undefined;
    const [room = "", ...parts] = path.slice(1).split("/");
    if (path === "/.well-known/terraform.json")
      return jsonReply(200, { "providers.v1": "/v1/providers/" });
    if (room === "archives") return answerArchive(parts[0] ?? "");
    if (room === "documents") return this.#answerDocument(parts);
    const [, , type = "", version = "", , os, arch] = parts;
    if (version === "versions") return this.#list(type);
    return this.#describe(type, version, `${os}_${arch}`);
  }

  #list(type: string): Answered {
    return this.#unlessFailing("list", { type, version: "" }, () => {
      const versions = this.#registry.listVersions(type).map((version) => {
        const offer = this.#registry.findOffer({ type, version });
        const platforms = Object.keys(offer?.signed.digests ?? {}).map(split);
        return { version, protocols: ["5.0"], platforms };
      });
      const id = `${namespace}/${type}`;
      return versions.length === 0
        ? notFound
        : jsonReply(200, { id, versions, warnings: null });
    });
  }

  #describe(type: string, version: string, platform: string): Answered {
    return this.#unlessFailing("release", { type, version }, () => {
      const offer = this.#registry.findOffer({ type, version });
      const shasum = offer?.signed.digests[platform];
      return offer === undefined || shasum === undefined
        ? notFound
        : jsonReply(200, this.#packageOf(offer, platform, shasum));
    });
  }

  #packageOf({ signed, blocks }: Offer, platform: string, shasum: string) {
    const { type, version, sha256sums, signer, signedAt } = signed;
    const id = `${sha256sums}-${signer}-${signedAt}`;
    this.#named.set(id, signed);
    const stem = `terraform-provider-${type}_${version}`;
    const document = `${this.url}documents/${id}/${stem}_SHA256SUMS`;
    const filename = `${stem}_${platform}.zip`;
    return {
      ...{ ...split(platform), protocols: ["5.0"], filename, shasum },
      download_url: `${this.url}archives/${shasum}/${filename}`,
      shasums_url: document,
      ...(signer && { shasums_signature_url: `${document}.sig` }),
      signing_keys: {
        gpg_public_keys: blocks.map((block) => ({
          ascii_armor: this.#keys.publish(block),
        })),
      },
    };
  }

  async #answerDocument([id = "", name = ""]: readonly string[]) {
    const signed = this.#named.get(id);
    if (signed === undefined) return notFound;
    const body = name.endsWith(".sig")
      ? await this.#keys.sign(signed)
      : signed.text;
    return this.#unlessFailing("sums", signed, () =>
      body === undefined ? notFound : reply(200, "text/plain", body),
    );
  }

  #unlessFailing(
    place: FaultPlace,
    name: { readonly type: string; readonly version: string },
    answer: () => Answered,
  ): Answered {
    const fault = this.#registry.findFault(place, name);
    if (fault === undefined) return answer();
    return fault === "gone" ? notFound : undefined;
  }
}

function answerArchive(sha256: string): Reply {
  const bytes = archiveBytes(sha256);
  return bytes === undefined ? notFound : reply(200, "application/zip", bytes);
}

function split(platform: string) {
  const [os, arch] = platform.split("_");
  return { os, arch };
}
