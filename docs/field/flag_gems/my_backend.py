"""Registers flag-gems' kernels over torch's operators, without block pointers."""

import flag_gems
from flag_gems.utils import codegen_config_utils

for config in codegen_config_utils.CODEGEN_COFIGS.values():
    if config:
        config.prefer_block_pointer = False
flag_gems.enable()
