import { credentialStories } from './git-credentials.ts';

credentialStories(false);
