export interface ListedObject {
  /** With the settings' prefix. */
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  readonly lastModified: Date;
}

export interface Listing {
  readonly objects: readonly ListedObject[];
  /** With a delimiter: what several keys start with, up to and with it. */
  readonly prefixes: readonly string[];
  /** Where the next page starts; undefined at the end. */
  readonly next: string | undefined;
}

/** Loads the parser with the first document: a daemon without a bucket does without its code. */
async function parse(text: string): Promise<Record<string, unknown>> {
  const { XMLParser } = await import("fast-xml-parser");
  const parser = new XMLParser({
    ignoreDeclaration: true,
    parseTagValue: false,
    processEntities: true,
    isArray: (name) => name === "Contents" || name === "CommonPrefixes",
  });
  return parser.parse(text) as Record<string, unknown>;
}

/** A page of ListObjectsV2 (encoding-type=url). Throws SyntaxError for any other document. */
export async function parseListing(text: string): Promise<Listing> {
  const { ListBucketResult: result } = (await parse(text)) as {
    readonly ListBucketResult?: Readonly<Record<string, unknown>>;
  };
  if (result === undefined) throw new SyntaxError("not a list of objects");
  const contents = (result.Contents ?? []) as readonly Record<
    string,
    unknown
  >[];
  const prefixes = (result.CommonPrefixes ?? []) as typeof contents;
  return {
    objects: contents.map(parseObject),
    prefixes: prefixes.map((entry) => decodeKey(readText(entry, "Prefix"))),
    next:
      result.IsTruncated === "true"
        ? readText(result, "NextContinuationToken")
        : undefined,
  };
}

/** One element of a small answer, such as `UploadId`; undefined when the document has none. */
export async function findElement(
  text: string,
  name: string,
): Promise<string | undefined> {
  const roots = Object.values(await parse(text));
  for (const root of roots)
    if (typeof root === "object" && root !== null && name in root)
      return readText(root as Readonly<Record<string, unknown>>, name);
  return undefined;
}

/** As it is written where it is no UTF-8, which none of our names is. */
function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

function parseObject(entry: Readonly<Record<string, unknown>>): ListedObject {
  return {
    key: decodeKey(readText(entry, "Key")),
    size: Number(readText(entry, "Size")),
    etag: readText(entry, "ETag"),
    lastModified: new Date(readText(entry, "LastModified")),
  };
}

function readText(
  element: Readonly<Record<string, unknown>>,
  name: string,
): string {
  const value = element[name];
  if (typeof value !== "string") throw new SyntaxError(`no ${name}`);
  return value;
}
