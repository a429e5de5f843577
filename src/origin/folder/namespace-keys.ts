import type { OriginLimits } from "../guard/origin-settings.ts";
import type { OriginFolder } from "./origin-folder.ts";

/** Who may sign releases of a namespace, ASCII-armored, in the order of their files' names. */
export async function readNamespaceKeys(
  folder: OriginFolder,
  namespace: string,
  limits: Pick<OriginLimits, "keys">,
): Promise<readonly string[]> {
  const entries = (await folder.list([namespace, "keys"])) ?? [];
  const names = entries.map(({ name }) => name);
  const files = names.filter((name) => name.endsWith(".asc")).toSorted();
  const keys = files.map(async (name) => {
    const bytes = await folder.read([namespace, "keys", name], limits.keys);
    return Buffer.from(bytes ?? []).toString("utf8");
  });
  return Promise.all(keys);
}
