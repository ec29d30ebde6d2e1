from __future__ import annotations
import time
from concurrent.futures import ThreadPoolExecutor
from tests.browser.conftest import OpenAttached
from tests.browser.people import *
from tests.conftest import OpenLab
from tests.harness.server import Server
from tests.harness.wait import always, until

EDIT = """
const cell = panel.content.widgets[argument];
panel.content.activeCellIndex = argument;
panel.content.mode = 'edit';
await cell.ready;
cell.editor.setCursorPosition({line: 0, column: cell.model.sharedModel.source.length});
cell.editor.focus();
"""

def test_two(open_attached: OpenAttached, open_lab: OpenLab, lab_server: Server) -> None:
    t=time.time()
    first = open_attached(("# a ", "# b "))
    print("open1", time.time()-t); t=time.time()
    second = open_lab(lab_server, first.person.path)
    print("open2", time.time()-t); t=time.time()
    print(first.lab.evaluate("return [panel.context.path, panel.context.model.collaborative, panel.context.model.dirty]"))
    texts = ["the quick brown fox " * 4, "jumps over lazy dogs " * 4]
    labs = [first.lab, second]
    for i, lab in enumerate(labs):
        lab.evaluate(EDIT, i+1)
    first.person.remind("look", after_seconds=1)
    with ThreadPoolExecutor(2) as people:
        typing = [people.submit(lab.do, lambda page, text=text: page.keyboard.type(text, delay=5000/len(text))) for lab, text in zip(labs, texts)]
        for lab in labs:
            until(lambda: len(followups_in(lab)) == 1, what="cell")
        print([t.done() for t in typing])
        for x in typing: x.result()
    for lab in labs:
        print(wait_shown(lab))
        print(lab.cells()[1:3], lab.view_state(), lab.dialogs(), lab.notifications())
    print(wait_saved(first.file))
    print(first.person.view()["turns"])
    print(lab_server.log_text()[-3000:])
    assert 0
