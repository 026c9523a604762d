import { notAcceptable } from '../../domain/errors.ts';

/** Values of `Sec-Fetch-Dest` for subresources of a page: neither navigations nor requests of scripts. */
const EMBEDDED = /^(audio|audioworklet|embed|font|image|manifest|object|script|style|track|video|worker)$/;
const MEDIA = /^(image|video|audio)\/|^(text\/css|application\/ogg)$/;

/**
 * Refuses hotlinking: a page that embeds an archive as an image, script or style makes each of its visitors download it.
 * @throws 406 for such requests, recognised by Fetch Metadata or by the `Accept` header
 */
export function refuseHotlink(headers: Headers): void {
  const accepted = (headers.get('accept') ?? '')
    .split(',')
    .map((type) => type.split(';')[0]!.trim().toLowerCase())
    .filter((type) => type !== '');
  const onlyMedia = accepted.length > 0 && accepted.every((type) => MEDIA.test(type));
  if (onlyMedia || EMBEDDED.test(headers.get('sec-fetch-dest') ?? '')) throw notAcceptable();
}
