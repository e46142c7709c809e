"""python3 -m bench.compare; options.py has the command line."""

import sys
import tempfile

from bench.compare import options, page, plots, results, run, table


def main():
    given = options.parser().parse_args()
    try:
        if given.render:
            document = results.read(given.render)
            print(table.text_of(document))
            plots.write(document, given.render)
            if given.page:
                page.update(document, given.render, given.page)
            return run.DONE
        if given.self_test:
            with tempfile.TemporaryDirectory() as folder:
                given.out, given.fresh, given.slice = folder, True, "1/1"
                given.contender_ms = min(given.contender_ms, 10.0)
                given.budget = given.budget or "1s"
                return run.run(given)
        return run.run(given)
    except (ValueError, OSError) as error:
        print(f"bench.compare: {error}", file=sys.stderr)
        return run.UNFIT


if __name__ == "__main__":
    sys.exit(main())
