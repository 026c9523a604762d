"""A libgit2 client's session with a repository. Prints what it saw as JSON.

Usage: run.py URL FOLDER USERNAME PASSWORD
"""

import json
import sys

import pygit2

url, folder, username, password = sys.argv[1:]


class Callbacks(pygit2.RemoteCallbacks):
    refusal = None

    def credentials(self, url, username_from_url, allowed_types):
        return pygit2.UserPass(username, password)

    def push_update_reference(self, refname, message):
        self.refusal = message


callbacks = Callbacks()
seen = {}


def commits(repository):
    return sum(1 for _ in repository.walk(repository.head.target))


shallow = pygit2.clone_repository(url, f"{folder}/shallow", callbacks=callbacks, depth=2)
seen["shallow"] = commits(shallow)
shallow.remotes["origin"].fetch(callbacks=callbacks, depth=4)
seen["deepened"] = commits(shallow)

full = pygit2.clone_repository(url, f"{folder}/full", callbacks=callbacks)
seen["full"] = commits(full)
person = pygit2.Signature("Ada", "ada@example.com")
tree = full[full.head.target].tree_id
commit = full.create_commit("HEAD", person, person, "from libgit2\n", tree, [full.head.target])
full.remotes["origin"].push([full.head.name], callbacks=callbacks)
seen["pushed"] = str(commit) if callbacks.refusal is None else callbacks.refusal

shallow.remotes["origin"].fetch(callbacks=callbacks)
seen["fetched"] = str(shallow.references[f"refs/remotes/origin/{full.head.shorthand}"].target)
print(json.dumps(seen))
