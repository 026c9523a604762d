import type { JobArtifact } from '../../records/artifacts.ts';
import type { ApiDeps } from '../endpoint.ts';
import { download } from '../files/download.ts';
import { contentDisposition } from '../files/present.ts';

/** Sends a file that a job has left, or redirects to the bucket where it is large, or where the caller asks for that. */
export async function downloadArtifact(deps: ApiDeps, artifact: JobArtifact, direct = false) {
  const { store } = deps;
  const redirects = direct || store.downloads.isLarge(artifact.size);
  const content = redirects ? { key: artifact.blob } : await store.artifacts.open(artifact);
  return download(deps, content, {
    type: artifact.format === 'zip' ? 'application/zip' : 'application/octet-stream',
    disposition: contentDisposition('attachment', artifact.filename),
    headers: { 'Content-Transfer-Encoding': 'binary', 'X-Content-Type-Options': 'nosniff' },
  });
}
