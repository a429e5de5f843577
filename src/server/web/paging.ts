import { html, type Html } from "./html.ts";

/** Rows of one page. */
const pageSize = 50;

/** A part of a list, and where the rest is. */
interface Page<T> {
  readonly rows: readonly T[];
  /** Links to what is before and after. */
  readonly links: Html;
}

/**
 * Returns a page. `query` has its number, from 1, as `page`; an invalid one is
 * replaced by the nearest.
 */
export function pageOf<T>(all: readonly T[], query: URLSearchParams): Page<T> {
  const count = Math.max(1, Math.ceil(all.length / pageSize));
  const asked = Number.parseInt(query.get("page") ?? "1", 10) || 1;
  const page = Math.min(count, Math.max(1, asked));
  const rows = all.slice((page - 1) * pageSize, page * pageSize);
  if (count === 1) return { rows, links: html`` };
  const link = (to: number, name: string) => {
    const next = new URLSearchParams(query);
    next.set("page", String(to));
    return (
      to >= 1 &&
      to <= count &&
      html`<a href="browse?${next.toString()}">${name}</a> `
    );
  };
  const links = html`<p>
    ${link(page - 1, "Previous page")}Page ${page} of ${count}.
    ${link(page + 1, "Next page")}
  </p>`;
  return { rows, links };
}
