/**
 * The files of the page at `/api/docs`, as they are in node_modules. A bundle has this module replaced by one that reads
 * the files packed beside it (`cdk/bundle.ts`).
 */
import { type PackedFile, packViewer, type ViewerNames } from './pack.ts';

export type { ViewerNames };

let packed: Promise<{ names: ViewerNames; files: readonly PackedFile[] }> | undefined;

const viewer = () => (packed ??= packViewer());

/** What the files are called now. */
export const viewerNames = async (): Promise<ViewerNames> => (await viewer()).names;

/** The content of a file, gzip-compressed; undefined when no file has that name. */
export async function viewerContent(name: string): Promise<Uint8Array | undefined> {
  return (await viewer()).files.find((file) => file.name === name)?.gzip;
}
