import { startRegistry, type RegistryOptions } from "./registry.ts";
import { jsonReply, reply } from "./reply.ts";

export type ModuleRegistry = Awaited<ReturnType<typeof startModuleRegistry>>;

/** An origin that speaks `modules.v1`, and has files and git repositories. */
export async function startModuleRegistry(options: RegistryOptions) {
  const registry = await startRegistry(options);
  const { url, requests } = registry;
  registry.services = { "modules.v1": "/v1/modules/" };
  const published = new Map<string, Set<string>>();
  const answer = (path: string, value: unknown) =>
    registry.reply(path, jsonReply(200, value));
  return {
    ...{ url, requests },
    /** The base of `modules.v1`, for a `host` block. */
    modulesUrl: `${url}v1/modules/`,
    /** Lists a version of `NAMESPACE/NAME/SYSTEM`, and says where it is. */
    publish: (module: string, version: string, location: string) => {
      const base = `/v1/modules/${module}`;
      const versions = published.get(module) ?? new Set();
      published.set(module, versions.add(version));
      const listed = Array.from(versions, (version) => ({ version }));
      answer(`${base}/versions`, { modules: [{ versions: listed }] });
      const place = reply(204, "", "", { "X-Terraform-Get": location });
      registry.reply(`${base}/${version}/download`, place);
    },
    /** Returns the URL. */
    serve: (path: string, bytes: Buffer) => {
      registry.serve(path, bytes, "application/octet-stream");
      return `${url}${path.slice(1)}`;
    },
    /** Answers a path with JSON, for any query. */
    answer,
    redirect: (path: string, to: string) => {
      registry.reply(path, reply(302, "text/plain", "", { Location: to }));
      return `${url}${path.slice(1)}`;
    },
    /** Counts the requests whose path contains `text`. */
    count: (text: string) =>
      requests.list().filter(({ path }) => path.includes(text)).length,
    stop: () => registry.stop(),
    restart: () => registry.restart(),
  };
}
