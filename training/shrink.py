"""Weights in a quarter of the space, to keep a teacher between two machines: shrink.py small|whole IN.pt OUT.pt"""

import sys

import torch


def small(each):
    if each.dim() < 2:
        return each
    scales = each.float().abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
    return torch.round(each.float() / scales).to(torch.int8), scales.to(torch.float32)


def whole(each):
    return each if torch.is_tensor(each) else (each[0].float() * each[1]).to(torch.float16)


change = {"small": small, "whole": whole}[sys.argv[1]]
state = torch.load(sys.argv[2], map_location="cpu")
torch.save({name: change(each) for name, each in state.items()}, sys.argv[3])
