/** Whether what a repository has is told to the token of a job. */
export async function inClone(url: string, path: string, token: string): Promise<boolean> {
  const credential = Buffer.from(`gitlab-ci-token:${token}`).toString('base64');
  const answer = await fetch(`${url}/${path}.git/info/refs?service=git-upload-pack`, {
    headers: { Authorization: `Basic ${credential}` },
  });
  const text = await answer.text();
  return answer.status === 200 && text.includes('git-upload-pack');
}
