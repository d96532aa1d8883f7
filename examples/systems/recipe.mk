# One environment a system, exactly its pinned requirements: `make -C examples/systems/NAME` (PYTHON=… for another Python).
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	  "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; exit; }; done)

.venv/.installed: requirements.txt
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements.txt
	touch $@
